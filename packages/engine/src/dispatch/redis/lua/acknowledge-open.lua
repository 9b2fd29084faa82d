-- Claims of the open lane are over: their entries leave the streams, and their ids are forgotten. Rows of three: id, class, entry.
local ids, entries = {}, {}
for at = 2, #ARGV, 3 do
  ids[#ids + 1] = ARGV[at]
  local class = ARGV[at + 1]
  entries[class] = entries[class] or {}
  table.insert(entries[class], ARGV[at + 2])
end
for class, those in pairs(entries) do
  redis.call('XACK', stream_of(class), group, unpack(those))
  redis.call('XDEL', stream_of(class), unpack(those))
end
local gone = {}
for at, text in ipairs(redis.call('HMGET', prefix .. 'known', unpack(ids))) do
  -- Offered again meanwhile: that is another entry, and somebody else's.
  local entry = ARGV[3 * at + 1]
  if text and string.sub(text, 1, #entry + 1) == entry .. '|' then gone[#gone + 1] = ids[at] end
end
if #gone > 0 then redis.call('HDEL', prefix .. 'known', unpack(gone)) end
return {}
