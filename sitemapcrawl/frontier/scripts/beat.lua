-- Registers a worker for a while, and says who lives.
-- KEYS: workers, seeding, run. ARGV: worker, ms the registration lasts (0: leave), '1' while it still reads seeds.
-- Returns {workers alive, workers that read seeds, the run's id, its state}.
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local lasts = tonumber(ARGV[2])
for i, holds in ipairs({lasts > 0, lasts > 0 and ARGV[3] == '1'}) do
  if holds then redis.call('ZADD', KEYS[i], now + lasts, ARGV[1]) else redis.call('ZREM', KEYS[i], ARGV[1]) end
  redis.call('ZREMRANGEBYSCORE', KEYS[i], '-inf', now)
end
local run = redis.call('HMGET', KEYS[3], 'id', 'state')
return {redis.call('ZCARD', KEYS[1]), redis.call('ZCARD', KEYS[2]), run[1] or '', run[2] or ''}
