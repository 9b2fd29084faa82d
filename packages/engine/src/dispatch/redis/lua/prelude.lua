-- What all scripts share; it is put in front of each. Every key carries the prefix, whose hash tag names the pool, so that a script stays on one node.
--
--   known          hash: id -> place|class|cost|rank|lane. The place is the entry in its stream, 'p' for parked in its lane, 'd' for delayed
--   ready:CLASS    stream of ids that may be claimed, one for each class of priority
--   delayed        sorted set of ids, by the ms at which they fall due
--   lane:KEY       hash: a copy of the lane's budget, made from PostgreSQL and rebuilt from there
--   lane:KEY:parked  sorted set of ids that wait for a permit, by rank
--   lane:KEY:out   hash: id -> cost of those that were released and are not acknowledged
--   busy           set of lanes in which ids wait
--   more           there when PostgreSQL has more ready jobs than were offered
--   taken-over     how many ids were taken from dead processes and handed out again
local prefix = ARGV[1]
local group = 'workers'
local classes = 4
-- Lanes share so many places of the streams, each having a few at least; what they have beyond that waits in the lane, so that nobody stands behind all of it.
local places = 512
local places_min = 4

local function now_ms()
  local time = redis.call('TIME')
  return time[1] * 1000 + math.floor(time[2] / 1000)
end

local function stream_of(class) return prefix .. 'ready:' .. class end
local function lane_of(lane) return prefix .. 'lane:' .. lane end

local function note(id, place, job)
  redis.call('HSET', prefix .. 'known', id, place .. '|' .. job.class .. '|' .. job.cost .. '|' .. job.rank .. '|' .. job.lane)
end

local function find(id)
  local text = redis.call('HGET', prefix .. 'known', id)
  if not text then return nil end
  local place, class, cost, rank, lane = string.match(text, '^([^|]*)|([^|]*)|([^|]*)|([^|]*)|(.*)$')
  return { place = place, class = class, cost = tonumber(cost), rank = rank, lane = lane }
end

local function send(id, job)
  note(id, redis.call('XADD', stream_of(job.class), '*', 'id', id, 'rank', job.rank), job)
end

-- Gives back what a released id held of its lane.
local function leave(id, lane, refund)
  local cost = redis.call('HGET', lane_of(lane) .. ':out', id)
  if not cost then return end
  redis.call('HDEL', lane_of(lane) .. ':out', id)
  local back = refund == '' and tonumber(cost) or tonumber(refund)
  if back > 0 and (redis.call('HGET', lane_of(lane), 'remaining') or '') ~= '' then
    redis.call('HINCRBY', lane_of(lane), 'remaining', back)
  end
end

-- Reserves permits and sends ids to their streams, in one step, as long as the lane has room. The answers: 'unknown' when there is no copy of the lane,
-- 'dry' when nothing is left here and PostgreSQL has more, 'shut' when PostgreSQL refused and has not been asked since.
local function release(lane, now)
  local key = lane_of(lane)
  local copy = redis.call('HMGET', key, 'metered', 'remaining', 'reset', 'floor', 'cap', 'closed', 'others', 'more')
  if not copy[1] then return 'unknown' end
  if copy[6] == 'shut' then return 'shut' end
  if copy[6] == 'inf' or (tonumber(copy[6]) or 0) > now then return 'closed' end
  local metered, remaining, reset = copy[1] == '1', tonumber(copy[2]), tonumber(copy[3])
  local free = remaining ~= nil and remaining - tonumber(copy[4]) or math.huge
  local cap, others = tonumber(copy[5]) or math.huge, tonumber(copy[7])
  -- Nothing known of the budget, or its window is over: one job finds out.
  if metered and (remaining == nil or (reset ~= nil and reset <= now)) then
    cap = 1
    free = math.huge
  end
  if not metered then free = math.huge end
  local window = math.max(places_min, math.floor(places / math.max(1, redis.call('SCARD', prefix .. 'busy'))))
  local out = redis.call('HLEN', key .. ':out')
  local spent = 0
  while out + others < cap and out < window do
    local id = redis.call('ZRANGE', key .. ':parked', 0, 0)[1]
    if not id then
      redis.call('SREM', prefix .. 'busy', lane)
      if copy[8] == '1' then return 'dry' end
      break
    end
    local job = find(id)
    if job and job.place == 'p' then
      if job.cost > free then break end
      redis.call('HSET', key .. ':out', id, job.cost)
      send(id, job)
      out = out + 1
      free = free - job.cost
      spent = spent + job.cost
    end
    redis.call('ZREM', key .. ':parked', id)
  end
  if spent > 0 and remaining ~= nil then redis.call('HINCRBY', key, 'remaining', -spent) end
  return 'known'
end

local function park(id, job)
  note(id, 'p', job)
  redis.call('ZADD', lane_of(job.lane) .. ':parked', job.rank, id)
  redis.call('SADD', prefix .. 'busy', job.lane)
end

-- Releases of each lane and says for which of them the caller has to ask PostgreSQL.
local function release_all(lanes)
  local now, ask = now_ms(), {}
  for lane in pairs(lanes) do
    local is = release(lane, now)
    if is == 'unknown' or is == 'dry' or is == 'shut' then ask[#ask + 1] = lane end
  end
  return ask
end

-- Takes an entry out of its stream, delivered or not.
local function finish(class, entry)
  redis.call('XACK', stream_of(class), group, entry)
  redis.call('XDEL', stream_of(class), entry)
end
