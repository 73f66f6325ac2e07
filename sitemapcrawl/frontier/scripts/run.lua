-- Joins the run that did not end, or starts one.
-- KEYS: run, workers. ARGV: new id, recipe, 'new' to end an unfinished run that nobody else works on.
-- Returns {id, started ms, recipe, 1 if it was there before}.
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', now)
local alive = redis.call('ZCARD', KEYS[2])
local run = redis.call('HMGET', KEYS[1], 'id', 'started', 'recipe', 'state')
if run[4] == 'run' and not (ARGV[3] == 'new' and alive <= 1) then
  return {run[1], run[2], run[3], 1}
end
redis.call('DEL', KEYS[1])
redis.call('HSET', KEYS[1], 'id', ARGV[1], 'started', now, 'recipe', ARGV[2], 'state', 'run')
return {ARGV[1], tostring(now), ARGV[2], 0}
