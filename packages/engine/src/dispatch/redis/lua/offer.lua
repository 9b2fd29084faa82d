-- Takes in ids that are ready or fall due; those that are here already stay where they are. Rows of six: id, class, cost, rank, lane, due (ms, or '').
-- Answers the lanes for which PostgreSQL has to be asked, and whether the limit was reached.
local most = tonumber(ARGV[2])
local lanes, full, earliest = {}, 0, nil
for at = 3, #ARGV, 6 do
  local id, due = ARGV[at], ARGV[at + 5]
  local job = { class = ARGV[at + 1], cost = tonumber(ARGV[at + 2]), rank = ARGV[at + 3], lane = ARGV[at + 4] }
  local here = find(id)
  local wakes = here and here.place == 'd' and due == ''
  if wakes then redis.call('ZREM', prefix .. 'delayed', id) end
  -- Somebody trimmed the stream: the entry is gone, and the job is still ready.
  local lost = here and here.place ~= 'd' and here.place ~= 'p' and #redis.call('XRANGE', stream_of(here.class), here.place, here.place) == 0
  if lost and here.lane ~= '' then leave(id, here.lane, '') end
  if here and not wakes and not lost then
    if here.lane ~= '' then lanes[here.lane] = true end
  elseif not here and redis.call('HLEN', prefix .. 'known') >= most then
    full = 1
    redis.call('SET', prefix .. 'more', 1)
  elseif due ~= '' then
    note(id, 'd', job)
    redis.call('ZADD', prefix .. 'delayed', due, id)
    if not earliest or tonumber(due) < earliest then earliest = tonumber(due) end
  elseif job.lane ~= '' then
    park(id, job)
    lanes[job.lane] = true
  else
    send(id, job)
  end
end
if earliest then
  local first = redis.call('ZRANGE', prefix .. 'delayed', 0, 0, 'WITHSCORES')
  if tonumber(first[2]) >= earliest then redis.call('PUBLISH', prefix .. 'news', 'due:' .. first[2]) end
end
return { release_all(lanes), full }
