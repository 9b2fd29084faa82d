-- Released by its holder only.
if redis.call('GET', prefix .. 'leader') == ARGV[2] then return redis.call('DEL', prefix .. 'leader') end
return 0
