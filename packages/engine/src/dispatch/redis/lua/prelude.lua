-- What all scripts share; it is put in front of each. Every key carries the prefix, whose hash tag names the pool, so that a script stays on one node.
--
--   known          hash: id -> place|class|cost|rank|kind|lane. The place is the entry in its stream, 'p' for parked in its lane, 'd' for delayed, '0-0' for set apart
--   ready:CLASS    streams of ids that may be claimed: one for each class of priority of the open lane, and the last one for all other lanes
--   delayed        sorted set of ids, by the ms at which they fall due
--   lane:KEY       hash: a copy of the lane's budget, made from PostgreSQL and rebuilt from there
--   lane:KEY:parked  sorted set of ids that wait for a permit or their turn, by rank
--   lane:KEY:out   hash: id -> cost of those that were released and are not acknowledged
--   strange        set of kinds that somebody was handed who does not know them
--   strange:KIND   sorted set of ids of that kind that were set apart for somebody who does, by rank
--   turns          sorted set of lanes that have ids and room, by what they got over their weight
--   pace           how far the lane is that was served last
--   more           there when PostgreSQL has more ready jobs than were offered
--   taken-over     how many ids were taken from dead processes and handed out again
local prefix = ARGV[1]
local group = 'workers'
local classes = 4
local laned = 4
-- So many ids of lanes wait in their stream, for those who sleep to be woken. The rest is released when somebody takes it: nobody stands behind more than these.
local staged_max = 16
-- PostgreSQL is asked for more when fewer than that wait in a lane.
local parked_min = 500
-- Who had to wait for PostgreSQL catches up, but not with more than that.
local catch_up = 100

local function now_ms()
  local time = redis.call('TIME')
  return time[1] * 1000 + math.floor(time[2] / 1000)
end

-- The words that the caller gave last, as a set.
local function set_from(at)
  local set = {}
  for number = at, #ARGV do set[ARGV[number]] = true end
  return set
end

local function stream_of(class) return prefix .. 'ready:' .. class end
local function lane_of(lane) return prefix .. 'lane:' .. lane end

local function note(id, place, job)
  redis.call('HSET', prefix .. 'known', id, table.concat({ place, job.class, job.cost, job.rank, job.kind, job.lane }, '|'))
end

local function read_note(text)
  if not text then return nil end
  local place, class, cost, rank, kind, lane = string.match(text, '^([^|]*)|([^|]*)|([^|]*)|([^|]*)|([^|]*)|(.*)$')
  return { place = place, class = class, cost = tonumber(cost), rank = rank, kind = kind, lane = lane }
end

local function find(id) return read_note(redis.call('HGET', prefix .. 'known', id)) end

local function send(id, job)
  note(id, redis.call('XADD', stream_of(job.class), '*', 'id', id, 'rank', job.rank, 'kind', job.kind), job)
end

-- Gives back what a released id held of its lane.
local function leave(id, lane, refund)
  local cost = redis.call('HGET', lane_of(lane) .. ':out', id)
  if not cost then return end
  redis.call('HDEL', lane_of(lane) .. ':out', id)
  local back = refund == '' and tonumber(cost) or math.min(tonumber(refund), tonumber(cost))
  if back > 0 and (redis.call('HGET', lane_of(lane), 'remaining') or '') ~= '' then
    redis.call('HINCRBY', lane_of(lane), 'remaining', back)
  end
end

-- Whoever was handed it does not know its kind: it waits, in no stream, for somebody who does, and holds up nobody.
local nowhere = '0-0'
local function set_apart(id, job)
  note(id, nowhere, job)
  redis.call('ZADD', prefix .. 'strange:' .. job.kind, job.rank, id)
  redis.call('SADD', prefix .. 'strange', job.kind)
end

local doors = {}

-- What a lane may release, by its copy: read once in a script, and counted from there. `is` may be 'unknown' when there is no copy of the lane, 'shut' when
-- PostgreSQL refused and has not been asked since, 'closed' until a time or until somebody acts.
local function door_of(lane, now)
  if doors[lane] then return doors[lane] end
  local key = lane_of(lane)
  local copy = redis.call('HMGET', key, 'metered', 'remaining', 'reset', 'floor', 'cap', 'closed', 'others', 'more', 'weight', 'progress')
  local door = { is = 'open', spent = 0 }
  doors[lane] = door
  if not copy[1] then
    door.is = 'unknown'
  elseif copy[6] == 'shut' then
    door.is = 'shut'
  elseif copy[6] == 'inf' or (tonumber(copy[6]) or 0) > now then
    door.is = 'closed'
  else
    local metered, remaining, reset = copy[1] == '1', tonumber(copy[2]), tonumber(copy[3])
    local cap = tonumber(copy[5]) or math.huge
    door.counts = remaining ~= nil
    door.free = metered and remaining ~= nil and remaining - tonumber(copy[4]) or math.huge
    -- Nothing known of the budget, or its window is over: one job finds out.
    if metered and (remaining == nil or (reset ~= nil and reset <= now)) then
      cap = 1
      door.free = math.huge
      door.probes = true
    end
    door.room = cap - tonumber(copy[7])
    if door.room < math.huge then door.room = door.room - redis.call('HLEN', key .. ':out') end
    door.more, door.unread = copy[8] == '1', copy[8] ~= '0'
    door.weight, door.progress = tonumber(copy[9]) or 1, tonumber(copy[10])
  end
  return door
end

-- One id of the lane gets its permits and goes to the stream, in one step; or the lane has none that may.
local function release(lane, now)
  local door, key = door_of(lane, now), lane_of(lane)
  if door.is ~= 'open' or door.room < 1 then return false end
  while true do
    local first = redis.call('ZPOPMIN', key .. ':parked')
    local id = first[1]
    if not id then return false end
    local job = find(id)
    if job and job.place == 'p' then
      if job.cost > door.free then
        redis.call('ZADD', key .. ':parked', first[2], id)
        return false
      end
      redis.call('HSET', key .. ':out', id, job.cost)
      send(id, job)
      door.room = door.room - 1
      door.free = door.free - job.cost
      door.spent = door.spent + job.cost
      return true
    end
  end
end

-- A lane that has ids and room gets its turns. A newcomer goes before those that were served already.
local function line_up(lane, now)
  local door = door_of(lane, now)
  if door.is ~= 'open' or door.room < 1 or redis.call('EXISTS', lane_of(lane) .. ':parked') == 0 then return end
  if redis.call('ZSCORE', prefix .. 'turns', lane) then return end
  local pace = tonumber(redis.call('GET', prefix .. 'pace'))
  if not pace then
    -- One number for all newcomers: each before the last would let the first of them wait for ever.
    pace = (tonumber(redis.call('ZRANGE', prefix .. 'turns', 0, 0, 'WITHSCORES')[2]) or -1) + 1
    redis.call('SET', prefix .. 'pace', pace)
  end
  redis.call('ZADD', prefix .. 'turns', door.progress and math.max(door.progress, pace - catch_up) or pace - 1, lane)
  if door.progress then redis.call('HDEL', lane_of(lane), 'progress') end
  door.progress = nil
end

-- Up to where the group has been handed the entries of a stream.
local function delivered_to(class)
  local info = redis.call('XINFO', 'GROUPS', stream_of(class))[1] or {}
  for at = 1, #info, 2 do
    if info[at] == 'last-delivered-id' then return info[at + 1] end
  end
  return '0-0'
end

-- Entries of a stream that nobody was handed yet.
local function lag_of(class)
  local info = redis.call('XINFO', 'GROUPS', stream_of(class))[1]
  if not info then return nil end
  for at = 1, #info, 2 do
    if info[at] == 'pending' then return redis.call('XLEN', stream_of(class)) - info[at + 1] end
  end
end

-- Releases ids of lanes until so many wait in their stream. Whoever got least for its weight goes next, so that shares are by weight whoever takes them.
local function stage(most, now)
  local turns = prefix .. 'turns'
  if redis.call('EXISTS', turns) == 0 then return end
  local waiting, pace = lag_of(laned) or 0, nil
  while waiting < most do
    local first = redis.call('ZRANGE', turns, 0, 0, 'WITHSCORES')
    local lane = first[1]
    if not lane then break end
    local door = door_of(lane, now)
    if release(lane, now) then
      waiting = waiting + 1
      pace = math.max(pace or -math.huge, tonumber(first[2]))
      redis.call('ZINCRBY', turns, 1 / door.weight, lane)
    else
      redis.call('ZREM', turns, lane)
      if door.unread then redis.call('HSET', lane_of(lane), 'progress', first[2]) end
    end
  end
  if pace then redis.call('SET', prefix .. 'pace', math.max(pace, tonumber(redis.call('GET', prefix .. 'pace')) or pace)) end
end

-- At the end of a script: writes down what was spent, and says for which lanes the caller has to ask PostgreSQL: those it knows nothing of, and those that run dry
-- here while there is more; not of those it was asked for just now.
local function settle_doors(touched, asked)
  local ask = {}
  for lane, door in pairs(doors) do
    -- Beside a probe nothing is under way: whatever it hears is new. Before, late answers speak of the window that is over.
    if door.spent > 0 and door.probes then
      redis.call('HSET', lane_of(lane), 'remaining', '')
    elseif door.spent > 0 and door.counts then
      redis.call('HINCRBY', lane_of(lane), 'remaining', -door.spent)
    end
    if door.is == 'unknown' or door.is == 'shut' then
      if touched[lane] then ask[#ask + 1] = lane end
    elseif door.more and not (asked and touched[lane]) and redis.call('ZCARD', lane_of(lane) .. ':parked') < parked_min then
      redis.call('HSET', lane_of(lane), 'more', 'asked')
      ask[#ask + 1] = lane
    end
  end
  return ask
end

local function park(id, job)
  note(id, 'p', job)
  redis.call('ZADD', lane_of(job.lane) .. ':parked', job.rank, id)
end

-- Lets these lanes go on, and says for which of them the caller has to ask PostgreSQL.
local function release_all(lanes, asked)
  if not next(lanes) then return {} end
  local now = now_ms()
  for lane in pairs(lanes) do line_up(lane, now) end
  stage(staged_max, now)
  return settle_doors(lanes, asked)
end

-- Takes an entry out of its stream, delivered or not.
local function finish(class, entry)
  redis.call('XACK', stream_of(class), group, entry)
  redis.call('XDEL', stream_of(class), entry)
end

local function parts_of(entry)
  local ms, number = string.match(entry, '^(%d+)-(%d+)$')
  return tonumber(ms), tonumber(number)
end

local function is_before(entry, other)
  local ms, number = parts_of(entry)
  local other_ms, other_number = parts_of(other)
  return ms < other_ms or (ms == other_ms and number < other_number)
end

-- The same for many. What lies before the oldest entry that is not acknowledged goes all at once, which costs a tenth of taking out each.
local function finish_all(class, entries)
  local stream = stream_of(class)
  redis.call('XACK', stream, group, unpack(entries))
  local oldest = redis.pcall('XPENDING', stream, group, '-', '+', 1)
  local from = oldest[1] and oldest[1][1]
  if not from then return redis.call('XDEL', stream, unpack(entries)) end
  redis.call('XTRIM', stream, 'MINID', from)
  local rest = {}
  for _, entry in ipairs(entries) do
    if is_before(from, entry) then rest[#rest + 1] = entry end
  end
  if #rest > 0 then redis.call('XDEL', stream, unpack(rest)) end
end
