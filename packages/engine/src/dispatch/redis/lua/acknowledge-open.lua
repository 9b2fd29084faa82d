-- Claims of the open lane are over: their entries leave the streams, and their ids are forgotten. One text with a line for each: id, class, entry. A text is a
-- third of the work that as many arguments are.
local ids, places, entries = {}, {}, {}
for id, class, entry in string.gmatch(ARGV[2], '(%d+) (%d) ([%d-]+)') do
  ids[#ids + 1] = id
  places[#places + 1] = entry
  entries[class] = entries[class] or {}
  table.insert(entries[class], entry)
end
for class, those in pairs(entries) do finish_all(class, those) end
local gone = {}
for at, text in ipairs(redis.call('HMGET', prefix .. 'known', unpack(ids))) do
  -- Offered again meanwhile: that is another entry, and somebody else's.
  local entry = places[at]
  if text and string.sub(text, 1, #entry + 1) == entry .. '|' then gone[#gone + 1] = ids[at] end
end
if #gone > 0 then redis.call('HDEL', prefix .. 'known', unpack(gone)) end
return {}
