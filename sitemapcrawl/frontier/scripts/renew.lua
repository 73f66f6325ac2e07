-- Lengthens leases. KEYS: tag. ARGV: lease_ms, then request, token … Returns 1 a request renewed, 0 one that was lost.
local answers = {}
for i = 2, #ARGV, 2 do
  local lease = call('HGET', key('lease'), ARGV[i])
  local held = lease and string.match(lease, '^%d+') == ARGV[i + 1]
  if held then call('ZADD', key('leases'), 'XX', now + tonumber(ARGV[1]), ARGV[i]) end
  answers[#answers + 1] = held and 1 or 0
end
return answers
