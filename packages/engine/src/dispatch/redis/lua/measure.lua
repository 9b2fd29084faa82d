-- What is where, for people. Answers pairs of a name and a number.
local length, pending, lag = 0, 0, 0
for class = 0, laned do
  length = length + redis.call('XLEN', stream_of(class))
  local groups = redis.call('EXISTS', stream_of(class)) == 1 and redis.call('XINFO', 'GROUPS', stream_of(class)) or {}
  for _, info in ipairs(groups) do
    for at = 1, #info, 2 do
      if info[at] == 'pending' then pending = pending + info[at + 1] end
    end
  end
end
local known, delayed = redis.call('HLEN', prefix .. 'known'), redis.call('ZCARD', prefix .. 'delayed')
return { 'length', length, 'pending', pending, 'lag', length - pending, 'delayed', delayed, 'parked', math.max(0, known - delayed - length),
         'takenOver', tonumber(redis.call('GET', prefix .. 'taken-over')) or 0 }
