import { createHash } from 'node:crypto';

/** A Lua script. The server caches it under its SHA-1 digest. */
export interface Script {
  readonly text: string;
  readonly digest: string;
}

/**
 * How long a reservation is held at least, and twice as long at most. Without it, the reservations of a dead node
 * would last for as long as other nodes keep the window open; no live request takes this long.
 */
export const HOLD_MS = 120_000;

/**
 * A window is a hash that expires when the window closes:
 *
 *   counted          events that count
 *   flight, before   costs of the reservations in flight, of the current period and of the previous one
 *   turn             number of the current period
 *   opening          random ID of this window, to distinguish it from later windows of its key
 *
 * A bucket (gcra) is a hash that expires when all of its events have been worked off:
 *
 *   free             when that is, in ms with a fraction
 *   flight           costs of the reservations in flight; they are in the bucket, so those of a dead node are worked
 *                    off like all others
 *   opening          as above
 *
 * Scripts are atomic, so a reservation covers all of its keys or none. They read the server's clock, which is the only
 * one used; that requires Redis 5 or newer, or any Valkey.
 */
const WINDOW = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local current = math.floor(now / ${HOLD_MS})

local function read(key)
  local held = redis.call('HMGET', key, 'counted', 'flight', 'before', 'turn', 'opening')
  local window = {
    counted = tonumber(held[1] or 0),
    flight = tonumber(held[2] or 0),
    before = tonumber(held[3] or 0),
    turn = tonumber(held[4] or current),
    opening = held[5],
  }
  if window.turn < current then
    window.before = window.turn == current - 1 and window.flight or 0
    window.flight = 0
    window.turn = current
  end
  return window
end

local function used(window)
  return window.counted + window.flight + window.before
end

local function write(key, window)
  redis.call('HSET', key, 'counted', window.counted, 'flight', window.flight, 'before', window.before,
    'turn', window.turn, 'opening', window.opening)
end

-- A fraction of a double near the present time is exact to about 0.0002 ms.
local ROUNDING = 0.001

local function readBucket(key)
  local held = redis.call('HMGET', key, 'free', 'flight', 'opening')
  return {
    backlog = math.max(0, tonumber(held[1] or 0) - now),
    flight = tonumber(held[2] or 0),
    opening = held[3],
  }
end

local function writeBucket(key, bucket)
  local free = now + bucket.backlog
  redis.call('HSET', key, 'free', string.format('%.17g', free), 'flight', bucket.flight, 'opening', bucket.opening)
  redis.call('PEXPIREAT', key, string.format('%.0f', math.ceil(free)))
end
`;

function script(body: string): Script {
  const text = WINDOW + body;
  return { text, digest: createHash('sha1').update(text).digest('hex') };
}

/**
 * KEYS: the windows. ARGV: 'count' or 'reserve', an ID for windows opened now, then four values for each key: the
 * limit, the window (ms), the cost, and 'fixed-window' or 'gcra'. Returns {position of the key that refuses for
 * longest, ms until it no longer does}, or {0, now (ms), opening of each key}.
 */
export const ACQUIRE = script(`
local function argument(i, position)
  return ARGV[2 + 4 * (i - 1) + position]
end

local windows = {}
local refusing, wait = 0, 0
for i = 1, #KEYS do
  local limit, cost = tonumber(argument(i, 1)), tonumber(argument(i, 3))
  local left = 0
  if argument(i, 4) == 'gcra' then
    windows[i] = readBucket(KEYS[i])
    left = math.ceil(windows[i].backlog - (limit - cost) * tonumber(argument(i, 2)) / limit - ROUNDING)
  else
    windows[i] = read(KEYS[i])
    if used(windows[i]) + cost > limit then left = math.max(1, redis.call('PTTL', KEYS[i])) end
  end
  if left > wait then refusing, wait = i, left end
end
if refusing > 0 then return { refusing, wait } end

local answer = { 0, now }
for i = 1, #KEYS do
  local window = windows[i]
  local length, cost = tonumber(argument(i, 2)), tonumber(argument(i, 3))
  window.opening = window.opening or ARGV[2]
  if argument(i, 4) == 'gcra' then
    window.backlog = window.backlog + cost * length / tonumber(argument(i, 1))
    if ARGV[1] == 'reserve' then window.flight = window.flight + cost end
    writeBucket(KEYS[i], window)
  else
    local anchored = window.counted > 0
    if ARGV[1] == 'count' then window.counted = window.counted + cost else window.flight = window.flight + cost end
    write(KEYS[i], window)
    if not anchored then redis.call('PEXPIRE', KEYS[i], length) end
  end
  answer[2 + i] = window.opening
end
return answer`);

/**
 * KEYS: the windows. ARGV: 'commit', 'reset' or 'release', the time of the reservation (ms), then five values for each
 * key: the limit, the window (ms), the cost, 'fixed-window' or 'gcra', and the window's opening.
 */
export const SETTLE = script(`
local period = math.floor(tonumber(ARGV[2]) / ${HOLD_MS})

local function settleBucket(key, opening, cost, interval)
  local bucket = readBucket(key)
  if bucket.opening ~= opening then return end
  bucket.flight = math.max(0, bucket.flight - cost)
  if ARGV[1] == 'release' then bucket.backlog = bucket.backlog - cost * interval end
  if ARGV[1] == 'reset' then bucket.backlog = bucket.flight * interval end
  if bucket.backlog > ROUNDING then writeBucket(key, bucket) else redis.call('DEL', key) end
end

local function settleWindow(key, opening, cost, length)
  local window = read(key)
  if window.opening ~= opening then return end
  local anchored = window.counted > 0
  if period >= window.turn then window.flight = math.max(0, window.flight - cost)
  elseif period == window.turn - 1 then window.before = math.max(0, window.before - cost) end
  if ARGV[1] == 'commit' then window.counted = window.counted + cost end
  if ARGV[1] == 'reset' then window.counted = 0 end
  if used(window) == 0 then
    redis.call('DEL', key)
    return
  end
  write(key, window)
  local closes = tonumber(ARGV[2]) + length
  if ARGV[1] == 'commit' and (not anchored or now + redis.call('PTTL', key) > closes) then
    redis.call('PEXPIREAT', key, string.format('%.0f', closes))
  elseif ARGV[1] == 'reset' then
    redis.call('PEXPIRE', key, length)
  end
end

for i = 1, #KEYS do
  local first = 2 + 5 * (i - 1)
  local limit, length, cost = tonumber(ARGV[first + 1]), tonumber(ARGV[first + 2]), tonumber(ARGV[first + 3])
  local opening = ARGV[first + 5]
  if ARGV[first + 4] == 'gcra' then settleBucket(KEYS[i], opening, cost, length / limit)
  else settleWindow(KEYS[i], opening, cost, length) end
end
return 1`);

/**
 * KEYS: one window. ARGV: the limit, the window (ms), and 'fixed-window' or 'gcra'. Returns {events that count,
 * reservations in flight, ms until it closes (less than 1 if there is none)}.
 */
export const PEEK = script(`
if ARGV[3] == 'gcra' then
  local bucket = readBucket(KEYS[1])
  local events = math.ceil(bucket.backlog * tonumber(ARGV[1]) / tonumber(ARGV[2]) - ROUNDING)
  return { math.max(0, events - bucket.flight), bucket.flight, math.ceil(bucket.backlog) }
end
local window = read(KEYS[1])
return { window.counted, window.flight + window.before, redis.call('PTTL', KEYS[1]) }`);
