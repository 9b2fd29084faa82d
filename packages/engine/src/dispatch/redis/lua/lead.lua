-- The lock of whoever tends this pool: taken when it is free, renewed by its holder only. 2: taken just now, 1: renewed; below that somebody else
-- has it, for so many ms.
local key, holder, ttl = prefix .. 'leader', ARGV[2], ARGV[3]
if redis.call('GET', key) == holder then
  redis.call('PEXPIRE', key, ttl)
  return 1
end
if redis.call('SET', key, holder, 'NX', 'PX', ttl) then return 2 end
return -math.max(0, redis.call('PTTL', key))
