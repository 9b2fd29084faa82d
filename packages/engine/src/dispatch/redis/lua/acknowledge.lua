-- Claims are over: their entries leave the streams, their lanes get their room back, believe what servers said, and let the next ones go. Rows of seven:
-- id, class, entry, lane, refund ('' for all of it), said remaining ('' for nothing), said reset (ms of the server's clock, or '').
-- Answers the lanes for which PostgreSQL has to be asked.
local lanes = {}
local tolerance = 5000
local believed = 2 * 3600 * 1000

-- A newer window replaces what is known, as does the answer of a probe; an older one is ignored, and within a window the smaller number wins; what is under way may not have been counted yet.
local function sync(lane, said, reset, now)
  local key = lane_of(lane)
  local known = redis.call('HMGET', key, 'metered', 'remaining', 'reset')
  if not known[1] then return end
  if reset == nil then reset = now + believed end
  local under_way = 0
  for _, cost in ipairs(redis.call('HVALS', key .. ':out')) do under_way = under_way + tonumber(cost) end
  local remaining, until_ms = tonumber(known[2]), tonumber(known[3])
  if remaining == nil or until_ms == nil or (reset > now and reset > until_ms + tolerance) then
    redis.call('HSET', key, 'metered', 1, 'remaining', said - under_way, 'reset', math.max(reset, now + 1000))
  elseif reset > now and reset >= until_ms - tolerance and said < remaining then
    redis.call('HSET', key, 'remaining', math.min(remaining, said - under_way))
  end
  redis.call('PEXPIRE', key, math.max(reset - now, 0) + believed)
end

local now = now_ms()
for at = 2, #ARGV, 7 do
  local id, class, entry, lane = ARGV[at], ARGV[at + 1], ARGV[at + 2], ARGV[at + 3]
  finish(class, entry)
  local job = find(id)
  -- Offered again meanwhile: that is another entry, and somebody else's.
  if job and job.place == entry then
    redis.call('HDEL', prefix .. 'known', id)
    if lane ~= '' then leave(id, lane, ARGV[at + 4]) end
  end
  if lane ~= '' then
    lanes[lane] = true
    if ARGV[at + 5] ~= '' then sync(lane, tonumber(ARGV[at + 5]), tonumber(ARGV[at + 6]), now) end
  end
end
return release_all(lanes)
