-- Puts claimed requests back, no attempt charged. KEYS: tag. ARGV: channel, then request, token …
-- Returns how many were given back.
local given = 0
for i = 2, #ARGV, 2 do
  if release(ARGV[i], ARGV[i + 1]) then
    enqueue(ARGV[i])
    take_turn(host_of(ARGV[i]))
    given = given + 1
  end
end
if given > 0 then wake(ARGV[1]) end
return given
