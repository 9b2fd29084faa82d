-- Takes over what PostgreSQL says about lanes and releases what may go. Answers other lanes for which PostgreSQL has to be asked. Rows of eleven: lane, metered, remaining, reset (ms from now), floor, cap, closed (ms
-- from now, 'inf' until somebody acts), in flight, their cost, weight, 1 when PostgreSQL has more jobs of it than were offered. Times are '' when there is none.
-- What was released here and is not claimed there yet counts against what PostgreSQL still has to give.
local now = now_ms()
local function at_ms(text)
  if text == '' or text == 'inf' then return text end
  return now + math.ceil(tonumber(text))
end
local lanes = {}
for at = 2, #ARGV, 11 do
  local key = lane_of(ARGV[at])
  local out, cost = redis.call('HLEN', key .. ':out'), 0
  for _, one in ipairs(redis.call('HVALS', key .. ':out')) do cost = cost + tonumber(one) end
  local remaining = ARGV[at + 2]
  if remaining ~= '' then remaining = tonumber(remaining) - math.max(0, cost - tonumber(ARGV[at + 8])) end
  redis.call('HSET', key, 'metered', ARGV[at + 1], 'remaining', remaining, 'reset', at_ms(ARGV[at + 3]), 'floor', ARGV[at + 4], 'cap', ARGV[at + 5],
             'closed', at_ms(ARGV[at + 6]), 'others', math.max(0, tonumber(ARGV[at + 7]) - out), 'weight', ARGV[at + 9], 'more', ARGV[at + 10])
  redis.call('PEXPIRE', key, 24 * 3600 * 1000)
  lanes[ARGV[at]] = true
end
return release_all(lanes, true)
