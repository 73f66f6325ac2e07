-- Grants a sitemap part of a limit. Asking again for the same sitemap in the same run gives the same grant.
-- KEYS: grants of the run. ARGV: name of the limit, sitemap, wanted, limit. Returns how much is granted.
local field = ARGV[1] .. ' ' .. ARGV[2]
local old = tonumber(redis.call('HGET', KEYS[1], field) or 0)
local used = tonumber(redis.call('HGET', KEYS[1], ARGV[1]) or 0)
local granted = math.max(0, math.min(tonumber(ARGV[3]), tonumber(ARGV[4]) - used + old))
redis.call('HSET', KEYS[1], ARGV[1], used - old + granted, field, granted)
return granted
