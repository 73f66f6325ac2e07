-- Takes seed lines with a lease, or removes lines whose seeds are offered.
-- KEYS: start URLs (list, set or sorted set), taken (ZSET "TOKEN LINE" -> ms its lease runs out).
-- ARGV: 'take', n, lease_ms, token - or 'done', members …
-- Returns the members taken: lines whose taker died come first.
if ARGV[1] == 'done' then
  return redis.call('ZREM', KEYS[2], unpack(ARGV, 2))
end
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local n, lease_ms, token = tonumber(ARGV[2]), tonumber(ARGV[3]), ARGV[4]
local taken = redis.call('ZRANGEBYSCORE', KEYS[2], '-inf', now, 'LIMIT', 0, n)
local kind = redis.call('TYPE', KEYS[1]).ok
local lines = {}
if #taken < n then
  if kind == 'list' then lines = redis.call('LPOP', KEYS[1], n - #taken)
  elseif kind == 'set' then lines = redis.call('SPOP', KEYS[1], n - #taken)
  elseif kind == 'zset' then
    local popped = redis.call('ZPOPMAX', KEYS[1], n - #taken)
    for i = 1, #popped, 2 do lines[#lines + 1] = popped[i] end
  end
end
for i, line in ipairs(lines or {}) do taken[#taken + 1] = token .. '-' .. i .. ' ' .. line end
for _, member in ipairs(taken) do redis.call('ZADD', KEYS[2], now + lease_ms, member) end
return taken
