-- Stands before every partition script. KEYS[1] is the partition's hash tag, KEYS names in keys.py.
local function key(name, id) return KEYS[1] .. ':' .. name .. (id and (':' .. id) or '') end
local function call(...) return redis.call(...) end
local function clock()
  local t = call('TIME')
  return t[1] * 1000 + math.floor(t[2] / 1000)
end
local now = clock()

local function host_of(request) return string.match(request, '^%S+') end
local function kind_of(request) return string.match(request, '^%S+ (%S+)') end
local function url_of(request) return string.match(request, '^%S+ %S+ (.*)$') end
local function number(value) return tonumber(value or 0) or 0 end

local function record_of(request)
  if kind_of(request) == 'robots' then return key('host', host_of(request)) end
  return key('sitemap', url_of(request))
end

local function count(run, name, n)
  if n ~= 0 then call('HINCRBY', key('counts', run), name, n) end
end

-- The host may be claimed when its delay and its block are over.
local function take_turn(host)
  local h = call('HMGET', key('host', host), 'next_at', 'block_until')
  call('ZADD', key('turn'), math.max(now, number(h[1]), number(h[2])), host)
end

local function enqueue(request)
  local rank = 2  -- robots.txt comes before all sitemaps, whose ranks are 0..1; of one rank, by URL
  if kind_of(request) == 'sitemap' then rank = number(call('HGET', record_of(request), 'rank')) end
  call('ZADD', key('control', host_of(request)), -rank, request)
end

-- Ends the lease; false if the token is not the lease's (it ran out and somebody else has it).
local function release(request, token)
  local lease = call('HGET', key('lease'), request)
  if not lease or (token and string.match(lease, '^%d+') ~= token) then return false end
  call('HDEL', key('lease'), request)
  call('ZREM', key('leases'), request)
  call('HINCRBY', key('host', host_of(request)), 'inflight', -1)
  return true
end

-- A call may come twice when its first answer was lost: the record remembers the token that finished it.
local function was_finished(request, token)
  return call('HGET', record_of(request), kind_of(request) .. '_token') == token
end

local function wake(channel)
  call('PUBLISH', channel, string.match(KEYS[1], ':(%d+)}$'))
end

-- What the summary names: the requests of the run that failed so far, and why; 1,000 a partition at most.
local function note_failure(run, request, outcome, reason)
  local failures = key('failures', run)
  if reason == '' then
    call('HDEL', failures, request)
  elseif call('HLEN', failures) < 1000 then
    call('HSET', failures, request, outcome .. ' ' .. reason)
  end
end

-- Finishes a claim. f: request, token, run, outcome, reason, shown ('' for failures not worth naming), retry_ms (before
-- the next attempt), block_ms (of the host), since_ms (since the answer began), delay_ms (of the host), channel, fields
-- (flat), counts (flat).
local function finish(f)
  if not release(f.request, f.token) then return was_finished(f.request, f.token) end
  local host, record = host_of(f.request), record_of(f.request)
  local h = key('host', host)
  call('HSET', h, 'next_at', math.max(number(call('HGET', h, 'next_at')), now - f.since_ms + f.delay_ms))
  if f.block_ms > 0 then call('HSET', h, 'block_until', now + f.block_ms) end
  local robots = kind_of(f.request) == 'robots'
  local prefix = robots and 'robots_' or ''
  if not (robots and f.outcome == 'unchanged') then  -- answered from the record: it gets no younger by that
    call('HSET', record, prefix .. 'outcome', f.outcome, prefix .. 'reason', f.reason, prefix .. 'at', now)
  end
  call('HSET', record, kind_of(f.request) .. '_token', f.token)
  if #f.fields > 0 then call('HSET', record, unpack(f.fields)) end
  if f.outcome == 'retry' then
    call('HINCRBY', key('attempts'), f.request, 1)
    call('ZADD', key('due'), now + f.retry_ms, f.request)
  else
    call('HDEL', key('attempts'), f.request)
  end
  note_failure(f.run, f.request, f.outcome, f.shown)
  for i = 1, #f.counts, 2 do count(f.run, f.counts[i], tonumber(f.counts[i + 1])) end
  if call('ZCARD', key('control', host)) > 0 then take_turn(host) end
  wake(f.channel)
  return true
end

-- Reads the arguments of finish() from ARGV, from position i: eleven values, then two counted lists.
local function finish_arguments(i)
  local f = {request = ARGV[i], token = ARGV[i + 1], run = ARGV[i + 2], outcome = ARGV[i + 3], reason = ARGV[i + 4],
    shown = ARGV[i + 5], retry_ms = tonumber(ARGV[i + 6]), block_ms = tonumber(ARGV[i + 7]),
    since_ms = tonumber(ARGV[i + 8]), delay_ms = tonumber(ARGV[i + 9]), channel = ARGV[i + 10], fields = {}, counts = {}}
  local at = i + 11
  for _, name in ipairs({'fields', 'counts'}) do
    local n = tonumber(ARGV[at])
    for j = 1, n do f[name][j] = ARGV[at + j] end
    at = at + n + 1
  end
  return f
end
