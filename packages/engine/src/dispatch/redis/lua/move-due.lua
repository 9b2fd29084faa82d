-- Ids whose time has come go to their streams or lanes. Answers how many, the lanes for which PostgreSQL has to be asked, and in how many ms the next falls due.
local now = now_ms()
local due = redis.call('ZRANGE', prefix .. 'delayed', '-inf', now, 'BYSCORE', 'LIMIT', 0, tonumber(ARGV[2]))
local lanes = {}
for _, id in ipairs(due) do
  redis.call('ZREM', prefix .. 'delayed', id)
  local job = find(id)
  if job and job.lane ~= '' then
    park(id, job)
    lanes[job.lane] = true
  elseif job then
    send(id, job)
  end
end
local first = redis.call('ZRANGE', prefix .. 'delayed', 0, 0, 'WITHSCORES')
return { #due, release_all(lanes), first[2] and tostring(math.max(0, tonumber(first[2]) - now)) or '' }
