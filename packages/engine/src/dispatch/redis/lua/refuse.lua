-- What became of entries that PostgreSQL did not let start. Rows of five: id, class, entry, what, ms. `what` is
--   drop   the id is forgotten here; it is offered again when it may start
--   later  it comes back in ms
--   strange  this process does not know its kind: it is set apart for somebody who does
--   again  it goes to the end of its stream, or to its lane
--   lane   it waits in its lane, which is shut until PostgreSQL is asked
-- Answers the lanes for which PostgreSQL has to be asked, and those that were closed.
local lanes, closed, apart = {}, {}, false
local now = now_ms()
for at = 2, #ARGV, 5 do
  local id, class, entry, what, ms = ARGV[at], ARGV[at + 1], ARGV[at + 2], ARGV[at + 3], ARGV[at + 4]
  finish(class, entry)
  local job = find(id)
  if job and job.place == entry then
    if job.lane ~= '' then
      leave(id, job.lane, '')
      lanes[job.lane] = true
    end
    if what == 'strange' then
      set_apart(id, job)
      apart = true
    elseif what == 'later' then
      note(id, 'd', job)
      redis.call('ZADD', prefix .. 'delayed', now + math.ceil(tonumber(ms)), id)
      redis.call('PUBLISH', prefix .. 'news', 'due:' .. (now + math.ceil(tonumber(ms))))
    elseif what == 'lane' and job.lane ~= '' then
      park(id, job)
      redis.call('HSET', lane_of(job.lane), 'closed', 'shut')
      closed[job.lane] = true
    elseif what == 'again' and job.lane ~= '' then
      park(id, job)
    elseif what == 'again' then
      send(id, job)
    else
      redis.call('HDEL', prefix .. 'known', id)
    end
  end
end
if apart then redis.call('PUBLISH', prefix .. 'news', 'strange') end
local names = {}
for lane in pairs(closed) do
  lanes[lane] = nil
  names[#names + 1] = lane
end
return { release_all(lanes), names }
