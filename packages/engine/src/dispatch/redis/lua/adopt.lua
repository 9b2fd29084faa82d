-- Hands up to `count` ids that were set apart to somebody who knows their kinds, smallest rank first; the kinds it does not know follow. They are in no stream:
-- should it die before it has claimed them, the leader finds them ready in PostgreSQL and not here. Answers a text as take.lua does.
local count = tonumber(ARGV[2])
local unknown, taken = set_from(3), {}
for _, kind in ipairs(redis.call('SMEMBERS', prefix .. 'strange')) do
  local key = prefix .. 'strange:' .. kind
  while not unknown[kind] and #taken < count do
    local id = redis.call('ZPOPMIN', key)[1]
    if not id then
      redis.call('SREM', prefix .. 'strange', kind)
      break
    end
    local job = find(id)
    if job and job.place == nowhere then taken[#taken + 1] = job.class .. ' ' .. nowhere .. ' ' .. id end
  end
end
return table.concat(taken, '\n')
