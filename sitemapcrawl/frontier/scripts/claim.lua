-- Takes requests of hosts whose turn it is, and leases them. Politeness is decided and reserved here.
-- KEYS: tag. ARGV: run, worker, max, lease_ms, concurrency of a host, delay_ms, cap of Crawl-delay in ms,
--   ms a robots.txt is believed (0: not asked for permission), max attempts
-- Returns {claims, ms until a request may be claimable (-1: none), ms until a lease runs out (-1: none), events,
--   files whose pages a worker that died should have ranked: {"HOST URL", …}}.
--   A claim: {request, token, attempt, delay_ms, host fields, record fields}, fields as HOST_FIELDS and RECORD_FIELDS.
local run, worker, max, lease_ms = ARGV[1], ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4])
local concurrency, default_delay, cap = tonumber(ARGV[5]), tonumber(ARGV[6]), tonumber(ARGV[7])
local robots_ttl, max_attempts = tonumber(ARGV[8]), tonumber(ARGV[9])
local HOST_FIELDS = {'robots_at', 'robots_outcome', 'discover', 'priorities', 'robots_run', 'base', 'seeded', 'score'}
local RECORD_FIELDS = {'found_by', 'chain', 'depth', 'score', 'site', 'etag', 'last_modified', 'hash', 'recipe', 'hosts',
  'kind', 'outcome', 'verdict'}

local function reap()
  for _, request in ipairs(call('ZRANGEBYSCORE', key('leases'), '-inf', now, 'LIMIT', 0, 64)) do
    release(request)
    if call('HINCRBY', key('attempts'), request, 1) < max_attempts then
      enqueue(request)
      take_turn(host_of(request))
    else
      local prefix = kind_of(request) == 'robots' and 'robots_' or ''
      call('HSET', record_of(request), prefix .. 'outcome', 'dead', prefix .. 'reason', 'its worker died each time',
        prefix .. 'at', now)
      call('HDEL', key('attempts'), request)
      note_failure(run, request, 'dead', 'its worker died each time')
      count(run, kind_of(request) .. '/dead/its worker died each time', 1)
    end
  end
end

local function promote()
  for _, request in ipairs(call('ZRANGEBYSCORE', key('due'), '-inf', now, 'LIMIT', 0, 64)) do
    call('ZREM', key('due'), request)
    enqueue(request)
    take_turn(host_of(request))
  end
end

local function run_of(request)
  return call('HGET', record_of(request), kind_of(request) == 'robots' and 'robots_run' or 'run')
end

-- The request a host may be asked for now; nil: none, and the host leaves the turn until finish or offer brings it back.
local function next_request(host, h)
  local request = call('ZRANGE', key('control', host), 0, 0)[1]
  while request and run_of(request) ~= run do  -- left over from a run that was given up
    call('ZREM', key('control', host), request)
    request = call('ZRANGE', key('control', host), 0, 0)[1]
  end
  if not request or robots_ttl == 0 or kind_of(request) == 'robots' then return request end
  if number(h[5]) < now - robots_ttl then
    local robots = host .. ' robots ' .. h[6] .. 'robots.txt'
    if call('ZSCORE', key('leases'), robots) or call('ZSCORE', key('due'), robots) then return nil end
    call('HSET', key('host', host), 'robots_run', run)
    return robots
  end
  local outcome = h[7]
  if outcome == 'retry' or outcome == 'dead' then return nil end  -- closed: robots.txt has not answered
  return request
end

local function lease(request, host, h, delay)
  local token = call('INCR', key('token'))
  call('ZREM', key('control', host), request)
  call('ZADD', key('leases'), now + lease_ms, request)
  call('HSET', key('lease'), request, token .. ' ' .. worker)
  call('HINCRBY', key('host', host), 'inflight', 1)
  call('HSET', key('host', host), 'next_at', now + delay)
  local attempt = number(call('HGET', key('attempts'), request)) + 1
  local record = {}
  if kind_of(request) == 'sitemap' then record = call('HMGET', key('sitemap', url_of(request)), unpack(RECORD_FIELDS)) end
  return {request, token, attempt, delay, call('HMGET', key('host', host), unpack(HOST_FIELDS)), record}
end

reap()
promote()
local claims = {}
for _, host in ipairs(call('ZRANGEBYSCORE', key('turn'), '-inf', now, 'LIMIT', 0, max * 2)) do
  if #claims >= max then break end
  local h = call('HMGET', key('host', host), 'next_at', 'block_until', 'inflight', 'crawl_delay', 'robots_at', 'base',
    'robots_outcome')
  local free_at = math.max(number(h[1]), number(h[2]))
  local request = free_at <= now and number(h[3]) < concurrency and next_request(host, h)
  if free_at > now then
    call('ZADD', key('turn'), free_at, host)
  elseif not request then
    call('ZREM', key('turn'), host)
  else
    local delay = math.max(default_delay, math.min(number(h[4]), cap))
    claims[#claims + 1] = lease(request, host, h, delay)
    if number(h[3]) + 1 < concurrency and call('ZCARD', key('control', host)) > 0 then
      call('ZADD', key('turn'), now + delay, host)
    else
      call('ZREM', key('turn'), host)
    end
  end
end

local function wait(name)
  local first = call('ZRANGE', key(name), 0, 0, 'WITHSCORES')
  return first[2] and math.max(0, tonumber(first[2]) - now) or -1
end
local turn, due = wait('turn'), wait('due')
local work = (turn < 0 or (due >= 0 and due < turn)) and due or turn
local low = call('ZRANGEBYSCORE', key('low'), '-inf', now - lease_ms, 'LIMIT', 0, 4)
return {claims, work, wait('leases'), number(call('GET', key('events'))), low}
