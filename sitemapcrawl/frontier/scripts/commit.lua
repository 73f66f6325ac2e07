-- Stores the rows one sitemap lists of one host; the last part replaces the former read and may finish the claim.
-- KEYS: tag. ARGV: run, host, sitemap url, hash, recipe, rows in the whole file, index, priorities (11 counts joined
--   by blanks), blocks that earlier parts pushed, last ('1'), request and token that must hold ('' for another host's partition),
--   channel, n blocks, blocks, fingerprints (19 digits each, joined by nothing), then finish()'s arguments or nothing.
-- Returns {1 stored or 0 stale token, fingerprints that were new}.
local run, host, url, hash, recipe, total = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5], tonumber(ARGV[6])
local index, priorities, pushed, last = ARGV[7], ARGV[8], tonumber(ARGV[9]), ARGV[10] == '1'
local request, token, channel = ARGV[11], ARGV[12], ARGV[13]
local id = host .. ':' .. url
local h, file = key('host', host), key('file', id)

if request ~= '' then
  local lease = call('HGET', key('lease'), request)
  if not lease or string.match(lease, '^%d+') ~= token then return {was_finished(request, token) and 1 or 0, 0} end
end
local staged = key('new', id)
if call('LLEN', staged) < pushed then  -- made before and its answer lost, or somebody else commits the file
  local stored = call('HMGET', file, 'hash', 'run')
  return {stored[1] == hash and stored[2] == run and 1 or 0, 0}
end

-- Buckets of about 256 fingerprints, grown one at a time (linear hashing). The low 15 bits of a decimal number
-- are those of its last 15 digits, so that 63-bit numbers can stay strings.
local function bucketing(buckets)
  local size = 1
  while size * 2 <= buckets do size = size * 2 end
  return function(fingerprint)
    local low = tonumber(string.sub(fingerprint, -15))
    local bucket = low % (size * 2)
    return bucket < buckets and bucket or low % size
  end, size
end
local function split(buckets)
  local _, size = bucketing(buckets)
  local bucket_of = bucketing(buckets + 1)
  local from, moved = key('seen', host .. ':' .. (buckets - size)), {}
  for _, fingerprint in ipairs(call('SMEMBERS', from)) do
    if bucket_of(fingerprint) == buckets then moved[#moved + 1] = fingerprint end
  end
  if #moved > 0 then
    call('SREM', from, unpack(moved))
    call('SADD', key('seen', host .. ':' .. buckets), unpack(moved))
  end
end
local function see(fingerprints)
  local n = #fingerprints / 19
  local state = call('HMGET', h, 'seen_count', 'seen_buckets')
  local seen, buckets, new = number(state[1]), math.max(1, number(state[2])), 0
  while buckets < 32768 and buckets * 256 < seen + n do split(buckets); buckets = buckets + 1 end
  local groups, bucket_of = {}, bucketing(buckets)
  for i = 1, #fingerprints, 19 do
    local fingerprint = string.sub(fingerprints, i, i + 18)
    local bucket = bucket_of(fingerprint)
    local group = groups[bucket]
    if group then group[#group + 1] = fingerprint else groups[bucket] = {fingerprint} end
  end
  for bucket, group in pairs(groups) do
    for i = 1, #group, 4000 do
      new = new + call('SADD', key('seen', host .. ':' .. bucket), unpack(group, i, math.min(i + 3999, #group)))
    end
  end
  call('HSET', h, 'seen_count', seen + new, 'seen_buckets', buckets)
  return new
end

-- The host's histogram of priorities: this file's share is taken out and put in anew.
local function add_priorities(old)
  local sum = {}
  for n in string.gmatch(call('HGET', h, 'priorities') or '', '%-?%d+') do sum[#sum + 1] = tonumber(n) end
  local function add(text, sign)
    local i = 0
    for n in string.gmatch(text or '', '%d+') do i = i + 1; sum[i] = (sum[i] or 0) + sign * tonumber(n) end
  end
  add(old, -1)
  add(priorities, 1)
  if #sum > 0 then call('HSET', h, 'priorities', table.concat(sum, ' ')) end
end

local blocks = tonumber(ARGV[14])
if pushed == 0 then call('DEL', staged) else call('LTRIM', staged, 0, pushed - 1) end
for i = 15, 14 + blocks do call('RPUSH', staged, ARGV[i]) end
local at = 15 + blocks
local new = see(ARGV[at])
count(run, 'new', new)
if not last then return {1, new} end

call('SADD', key('hosts'), host)
local old = call('HMGET', file, 'priorities', 'run', 'count')
add_priorities(old[1])
count(run, 'listed', total - (old[2] == run and number(old[3]) or 0))
if total > 0 then
  call('RENAME', staged, key('rows', id))
  call('HSET', file, 'hash', hash, 'recipe', recipe, 'run', run, 'count', total, 'index', index, 'priorities', priorities,
    'at', now)
  call('SADD', key('files', host), url)
  call('ZADD', key('low'), now, host .. ' ' .. url)
else
  call('DEL', key('rows', id), file)
  call('SREM', key('files', host), url)
  call('ZREM', key('low'), host .. ' ' .. url)
end
if ARGV[at + 1] then finish(finish_arguments(at + 1)) end
return {1, new}
