-- Adds one file's best pages to its host's ranked pages and keeps the best. Doing it twice changes nothing.
-- KEYS: tag. ARGV: host, url of the file, queue size, then rank, page url …
-- The host's floor ("RANK URL") is the best page that did not fit: what is listed above it has been offered here,
-- what is at or below it waits in the catalogue. Returns how many pages are ranked now.
local host, url, size = ARGV[1], ARGV[2], tonumber(ARGV[3])
local ranked = key('ranked', host)
for i = 4, #ARGV, 2000 do call('ZADD', ranked, unpack(ARGV, i, math.min(i + 1999, #ARGV))) end

-- What is too much goes: the lowest ranks, and of the last rank the last URLs, since listings go by rank, then URL.
local excess = call('ZCARD', ranked) - size
if excess > 0 then
  local rank = call('ZRANGE', ranked, excess - 1, excess - 1, 'WITHSCORES')[2]
  excess = excess - call('ZREMRANGEBYSCORE', ranked, '-inf', '(' .. rank)
  local members = call('ZREVRANGEBYSCORE', ranked, rank, rank, 'LIMIT', 0, excess)
  for _, member in ipairs(members) do call('ZREM', ranked, member) end
  call('HSET', key('host', host), 'floor', rank .. ' ' .. members[#members])
end
call('ZREM', key('low'), host .. ' ' .. url)
return call('ZCARD', ranked)
