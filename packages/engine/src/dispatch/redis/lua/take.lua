-- Hands up to `count` ids to a consumer: half of them from lanes while both have some, in turn when it is one. Of the heads of the open lane's classes the one with
-- the smallest rank goes first: rank is the time of becoming ready less what its priority is worth, so that high classes go first and nobody in a low one waits for
-- ever. What is of the kinds that follow `count` is set apart instead: the consumer does not know them. Answers a text with a line for each: class, entry, id; whether the leader should bring more from PostgreSQL; the lanes for which it has to be asked.
local consumer, count = ARGV[2], tonumber(ARGV[3])
local now = now_ms()
local taken, heads, live, waiting = {}, {}, 0, 0
-- The leader brings more when so few are left: it takes him a moment.
local few = 1500
-- More in one go would hold up everybody else.
local apart, apart_max = 0, 1000
local unknown = set_from(4)

local function head_of(class, after)
  local first = redis.call('XRANGE', stream_of(class), '(' .. after, '+', 'COUNT', 1)[1]
  if not first then return nil end
  return { entry = first[1], rank = tonumber(first[2][4]) }
end

local function is_apart(class, entry)
  local id, kind = entry[2][2], entry[2][6]
  if not unknown[kind] then return false end
  apart = apart + 1
  finish(class, entry[1])
  local job = find(id)
  if job and job.place == entry[1] then
    set_apart(id, job)
    if job.lane ~= '' then
      local door = doors[job.lane]
      leave(id, job.lane, '')
      if door and door.is == 'open' then door.room, door.free = door.room + 1, door.free + job.cost end
      line_up(job.lane, now)
    end
  end
  return true
end

local function read(class, most)
  local answer = redis.call('XREADGROUP', 'GROUP', group, consumer, 'COUNT', most, 'STREAMS', stream_of(class), '>')
  local entries = answer and answer[1] and answer[1][2] or {}
  local before = apart
  for _, entry in ipairs(entries) do
    if not is_apart(class, entry) then taken[#taken + 1] = class .. ' ' .. entry[1] .. ' ' .. entry[2][2] end
  end
  return entries[#entries], apart > before and apart < apart_max
end

local function take_laned(most)
  local again, before = true, #taken
  while again and #taken - before < most do
    stage(most, now)
    local _, apart_some = read(laned, most - (#taken - before))
    again = apart_some
  end
end

for class = 0, laned do
  local info = redis.call('XINFO', 'GROUPS', stream_of(class))[1]
  if not info then return redis.error_reply('NOGROUP the group of ' .. stream_of(class) .. ' is gone') end
  for at = 1, #info, 2 do
    if info[at] == 'last-delivered-id' and class < classes then heads[class] = head_of(class, info[at + 1]) end
    if info[at] == 'pending' and class < classes then waiting = waiting + redis.call('XLEN', stream_of(class)) - info[at + 1] end
  end
  if heads[class] then live = live + 1 end
end

local share = count
if live > 0 and count > 1 then share = math.ceil(count / 2) end
if live > 0 and count == 1 then share = redis.call('INCR', prefix .. 'whose') % 2 end
take_laned(share)
while live > 0 and #taken < count do
  local best
  for class = 0, classes - 1 do
    if heads[class] and (not best or heads[class].rank < heads[best].rank) then best = class end
  end
  local last, again = read(best, live == 1 and count - #taken or 1)
  heads[best] = last and (live > 1 or again) and head_of(best, last[1]) or nil
  if not heads[best] then live = live - 1 end
end
if share < count then take_laned(count - #taken) end
-- For those who sleep.
stage(staged_max, now)
-- Told once: the leader says anew whether there is more.
if apart > 0 then redis.call('PUBLISH', prefix .. 'news', 'strange') end
local more = waiting - #taken - apart < few and redis.call('DEL', prefix .. 'more') or 0
return { table.concat(taken, '\n'), more, settle_doors({}) }
