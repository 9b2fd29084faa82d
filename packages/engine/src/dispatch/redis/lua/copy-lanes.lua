-- Takes over what PostgreSQL says about lanes and releases what may go. Rows of ten: lane, metered, remaining, reset (ms from now), floor, cap, closed (ms
-- from now, 'inf' until somebody acts), in flight, their cost, 1 when PostgreSQL has more jobs of it than were offered. Times are '' when there is none.
-- What was released here and is not claimed there yet counts against what PostgreSQL still has to give.
local now = now_ms()
local function at_ms(text)
  if text == '' or text == 'inf' then return text end
  return now + math.ceil(tonumber(text))
end
for at = 2, #ARGV, 10 do
  local key = lane_of(ARGV[at])
  local out, cost = redis.call('HLEN', key .. ':out'), 0
  for _, one in ipairs(redis.call('HVALS', key .. ':out')) do cost = cost + tonumber(one) end
  local remaining = ARGV[at + 2]
  if remaining ~= '' then remaining = tonumber(remaining) - math.max(0, cost - tonumber(ARGV[at + 8])) end
  redis.call('HSET', key, 'metered', ARGV[at + 1], 'remaining', remaining, 'reset', at_ms(ARGV[at + 3]), 'floor', ARGV[at + 4], 'cap', ARGV[at + 5],
             'closed', at_ms(ARGV[at + 6]), 'others', math.max(0, tonumber(ARGV[at + 7]) - out), 'more', ARGV[at + 9])
  redis.call('PEXPIRE', key, 24 * 3600 * 1000)
  release(ARGV[at], now)
end
return 0
