-- Entries that nobody has touched for `idle` ms come into the leader's hands, who asks PostgreSQL what became of their jobs. Consumers that hold nothing and
-- have not been seen for long are removed. Whoever has not heard that something was set apart hears it now. Answers rows of class, entry, id; as many as `count`,
-- or more, when there may be others.
local consumer, idle, count = ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4])
local found = {}
for class = 0, laned do
  local from = '0-0'
  repeat
    local answer = redis.call('XAUTOCLAIM', stream_of(class), group, consumer, idle, from, 'COUNT', count)
    for _, entry in ipairs(answer[2]) do
      found[#found + 1] = { class, entry[1], entry[2][2] }
    end
    from = answer[1]
  until from == '0-0' or #found >= count
  for _, one in ipairs(redis.call('XINFO', 'CONSUMERS', stream_of(class), group)) do
    local fields = {}
    for at = 1, #one, 2 do fields[one[at]] = one[at + 1] end
    if fields.pending == 0 and fields.idle > 60000 then redis.call('XGROUP', 'DELCONSUMER', stream_of(class), group, fields.name) end
  end
end
if redis.call('EXISTS', prefix .. 'strange') == 1 then redis.call('PUBLISH', prefix .. 'news', 'strange') end
return found
