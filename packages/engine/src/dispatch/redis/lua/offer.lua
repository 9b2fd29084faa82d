-- Takes in ids that are ready or fall due; those that are here already stay where they are. Rows of seven: id, class, cost, rank, kind, lane, due (ms, or '').
-- Answers the lanes for which PostgreSQL has to be asked, and whether the limit was reached.
local most = tonumber(ARGV[2])
-- The leader offers the front of the queue again and again, and looks whether the entries of what is known are still there: of the oldest always, which is where
-- one that got lost comes to lie, and of all of a stream when few of it are left to be handed out. XRANGE takes 16 µs: of all and every time it was half of what Redis did in a drain.
local checked_always = 100
local few = 500
local lanes, full, earliest = {}, 0, nil
local delivered = {}

-- An entry that will reach nobody: somebody trimmed the stream, or removed the consumer that had been handed it, and its pending entries with it.
local function is_lost(id, class, entry, kind)
  -- Whoever took it from there claims it just now, or died: then it is ready in PostgreSQL.
  if entry == nowhere then return not redis.call('ZSCORE', prefix .. 'strange:' .. kind, id) end
  if #redis.call('XRANGE', stream_of(class), entry, entry) == 0 then return true end
  delivered[class] = delivered[class] or delivered_to(class)
  if is_before(delivered[class], entry) then return false end
  return #redis.call('XPENDING', stream_of(class), group, entry, entry, 1) == 0
end

local waiting = {}
local function is_worth_a_look(number, class)
  if number <= checked_always then return true end
  waiting[class] = waiting[class] or lag_of(class) or 0
  return waiting[class] < few
end

local asked = {}
for at = 3, #ARGV, 7 do asked[#asked + 1] = ARGV[at] end
local notes = #asked > 0 and redis.call('HMGET', prefix .. 'known', unpack(asked)) or {}
local known, seen = redis.call('HLEN', prefix .. 'known'), {}
for at = 3, #ARGV, 7 do
  local number = (at + 4) / 7
  local id, due = ARGV[at], ARGV[at + 6]
  local job = { class = ARGV[at + 1], cost = tonumber(ARGV[at + 2]), rank = ARGV[at + 3], kind = ARGV[at + 4], lane = ARGV[at + 5] }
  local here = seen[id] and find(id) or read_note(notes[number])
  seen[id] = true
  local wakes = here and here.place == 'd' and due == ''
  if wakes then redis.call('ZREM', prefix .. 'delayed', id) end
  local lost = false
  if here and here.place ~= 'd' and here.place ~= 'p' and is_worth_a_look(number, here.class) then lost = is_lost(id, here.class, here.place, here.kind) end
  if lost then redis.call('XDEL', stream_of(here.class), here.place) end
  if lost and here.lane ~= '' then leave(id, here.lane, '') end
  if not here then known = known + 1 end
  if here and not wakes and not lost then
    if here.lane ~= '' then lanes[here.lane] = true end
  elseif not here and known > most then
    full = 1
    redis.call('SET', prefix .. 'more', 1)
  elseif due ~= '' then
    note(id, 'd', job)
    redis.call('ZADD', prefix .. 'delayed', due, id)
    if not earliest or tonumber(due) < earliest then earliest = tonumber(due) end
  elseif job.lane ~= '' then
    park(id, job)
    lanes[job.lane] = true
  else
    send(id, job)
  end
end
if earliest then
  local first = redis.call('ZRANGE', prefix .. 'delayed', 0, 0, 'WITHSCORES')
  if tonumber(first[2]) >= earliest then redis.call('PUBLISH', prefix .. 'news', 'due:' .. first[2]) end
end
return { release_all(lanes), full }
