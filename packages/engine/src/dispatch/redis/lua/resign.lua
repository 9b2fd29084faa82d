-- Released by its holder only; whoever else wants it is told.
if redis.call('GET', prefix .. 'leader') ~= ARGV[2] then return 0 end
redis.call('PUBLISH', prefix .. 'news', 'free')
return redis.call('DEL', prefix .. 'leader')
