-- Makes requests known and puts those that are new in this run into their host's control queue.
-- KEYS: tag. ARGV: run, ms a negative answer is kept, channel, n, then n times thirteen values:
--   host, base, kind, url, rank, found_by, chain, depth, score, site, lastmod, discover ('1': use robots.txt's
--   sitemaps), seeded ('1': the user named the host, or a private host that the user named)
-- Returns n numbers: 1 new in this run, 0 known in this run, -1 a well-known path that lately was not there.
local run, kept_ms, channel, n = ARGV[1], tonumber(ARGV[2]), ARGV[3], tonumber(ARGV[4])
local answers, added = {}, false

local function offer_robots(host, request, discover, score)
  local h = key('host', host)
  local told = call('HMGET', h, 'robots_run', 'discover')
  local asks = discover == '1' and told[2] ~= run
  if told[1] == run and not asks then return 0 end
  call('HSET', h, 'robots_run', run)
  if asks then call('HSET', h, 'discover', run, 'score', score) end
  return 1
end

local function offer_sitemap(host, url, a)
  local record = key('sitemap', url)
  local old = call('HMGET', record, 'run', 'found_by', 'outcome', 'at')
  if old[1] == run then return 0 end
  local absent = old[3] == 'gone' or old[3] == 'dead'
  if a.found_by == 'path' and old[2] == 'path' and absent and number(old[4]) > now - kept_ms then return -1 end
  call('HSET', record, 'run', run, 'rank', a.rank, 'found_by', a.found_by, 'chain', a.chain, 'depth', a.depth,
    'score', a.score, 'site', a.site, 'lastmod', a.lastmod)
  call('SADD', key('sitemaps', host), url)
  count(run, 'sitemaps', 1)
  return 1
end

for i = 5, 4 + n * 13, 13 do
  local host, kind, url = ARGV[i], ARGV[i + 2], ARGV[i + 3]
  local request = host .. ' ' .. kind .. ' ' .. url
  if call('SADD', key('hosts'), host) == 1 then call('HSETNX', key('host', host), 'base', ARGV[i + 1]) end
  if call('HGET', key('host', host), 'run') ~= run then
    call('HSET', key('host', host), 'run', run)
    count(run, 'hosts', 1)
  end
  if ARGV[i + 12] == '1' then call('HSET', key('host', host), 'seeded', '1') end
  local answer
  if kind == 'robots' then
    answer = offer_robots(host, request, ARGV[i + 11], ARGV[i + 8])
  else
    answer = offer_sitemap(host, url, {rank = ARGV[i + 4], found_by = ARGV[i + 5], chain = ARGV[i + 6],
      depth = ARGV[i + 7], score = ARGV[i + 8], site = ARGV[i + 9], lastmod = ARGV[i + 10]})
  end
  if answer == 1 and not call('ZSCORE', key('leases'), request) then
    call('ZREM', key('due'), request)
    call('HDEL', key('attempts'), request)
    enqueue(request)
    take_turn(host)
    added = true
  end
  answers[#answers + 1] = answer
end
if added then
  call('INCR', key('events'))
  wake(channel)
end
return answers
