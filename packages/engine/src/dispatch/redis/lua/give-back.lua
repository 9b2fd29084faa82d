-- Puts entries back that a consumer was handed and does not want, each where it was. Rows of three: id, class, entry.
-- That cannot be when somebody was handed a later one of that stream meanwhile. Answers the ids that stay with the consumer.
local kept = {}
for at = 2, #ARGV, 3 do
  local id, class, entry = ARGV[at], ARGV[at + 1], ARGV[at + 2]
  local stream, job = stream_of(class), find(id)
  if not job or job.place ~= entry or delivered_to(class) ~= entry then
    kept[#kept + 1] = id
  elseif redis.call('XRANGE', stream, '(' .. entry, '+', 'COUNT', 1)[1] then
    -- Others wait behind it, so nobody sleeps who would have to be woken.
    local older = redis.call('XREVRANGE', stream, '(' .. entry, '-', 'COUNT', 1)[1]
    redis.call('XACK', stream, group, entry)
    redis.call('XGROUP', 'SETID', stream, group, older and older[1] or '0-0')
  else
    -- The last of its stream: sent again it is the last as well, and wakes whoever sleeps.
    finish(class, entry)
    send(id, job)
  end
end
return kept
