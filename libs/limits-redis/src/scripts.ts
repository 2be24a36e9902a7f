/**
 * A window is a hash: `used` (counted and in flight), `counted`, `opening` (which window this is); it expires when the
 * window closes. Each script runs whole before any other command, so several keys are taken all or none. The server's
 * clock is the only one that counts.
 */

/**
 * KEYS: the windows. ARGV: 'count' or 'reserve', an id for windows opened now, then limit and window (ms) of each key.
 * Answers {position of the key that reopens last, ms until then}, or {0, now (ms), opening of each key}.
 */
export const TAKE = `
local refusing, wait = 0, 0
for i = 1, #KEYS do
  local used = tonumber(redis.call('HGET', KEYS[i], 'used') or '0')
  if used >= tonumber(ARGV[1 + 2 * i]) then
    local left = math.max(1, redis.call('PTTL', KEYS[i]))
    if left > wait then refusing, wait = i, left end
  end
end
if refusing > 0 then return { refusing, wait } end

local time = redis.call('TIME')
local answer = { 0, time[1] * 1000 + math.floor(time[2] / 1000) }
for i = 1, #KEYS do
  redis.call('HSETNX', KEYS[i], 'opening', ARGV[2])
  redis.call('HINCRBY', KEYS[i], 'used', 1)
  local counted = tonumber(redis.call('HGET', KEYS[i], 'counted') or '0')
  if ARGV[1] == 'count' then redis.call('HINCRBY', KEYS[i], 'counted', 1) end
  if counted == 0 then redis.call('PEXPIRE', KEYS[i], ARGV[2 + 2 * i]) end
  answer[2 + i] = redis.call('HGET', KEYS[i], 'opening')
end
return answer`;

/** KEYS: the windows. ARGV: 'keep', 'forget' or 'release', when they were taken (ms), then window (ms) and opening of each key. */
export const SETTLE = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
for i = 1, #KEYS do
  if redis.call('HGET', KEYS[i], 'opening') == ARGV[2 + 2 * i] then
    local counted = tonumber(redis.call('HGET', KEYS[i], 'counted') or '0')
    local window = tonumber(ARGV[1 + 2 * i])
    if ARGV[1] == 'keep' then
      redis.call('HINCRBY', KEYS[i], 'counted', 1)
      local closes = tonumber(ARGV[2]) + window
      if counted == 0 or now + redis.call('PTTL', KEYS[i]) > closes then
        redis.call('PEXPIREAT', KEYS[i], string.format('%.0f', closes))
      end
    else
      local gone = 1
      if ARGV[1] == 'forget' then
        gone = 1 + counted
        redis.call('HSET', KEYS[i], 'counted', 0)
        redis.call('PEXPIRE', KEYS[i], window)
      end
      if redis.call('HINCRBY', KEYS[i], 'used', -gone) <= 0 then redis.call('DEL', KEYS[i]) end
    end
  end
end
return 1`;
