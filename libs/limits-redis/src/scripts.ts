import { createHash } from 'node:crypto';

/** A Lua script. The server caches it under its SHA-1 digest. */
export interface Script {
  readonly text: string;
  readonly digest: string;
}

/**
 * How long a reservation is held at least, and twice as long at most. Without a lease, the reservations of a dead node would
 * last for as long as other nodes keep the window open; no live request takes this long.
 */
export const LEASE_MS = 120_000;

/**
 * A window is a hash that expires when the window closes:
 *
 *   counted          events that count
 *   flight, before   reservations in flight, of the current lease and of the previous one
 *   turn             number of the current lease
 *   opening          random ID of this window, to distinguish it from later windows of its key
 *
 * Scripts are atomic, so a reservation covers all of its keys or none. They read the server's clock, which is the only one
 * used; that requires Redis 5 or newer, or any Valkey.
 */
const WINDOW = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local current = math.floor(now / ${LEASE_MS})

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
`;

function script(body: string): Script {
  const text = WINDOW + body;
  return { text, digest: createHash('sha1').update(text).digest('hex') };
}

/**
 * KEYS: the windows. ARGV: 'count' or 'reserve', an ID for windows opened now, then limit and window (ms) of each key.
 * Returns {position of the refusing key that closes last, ms until then}, or {0, now (ms), opening of each key}.
 */
export const ACQUIRE = script(`
local windows = {}
local refusing, wait = 0, 0
for i = 1, #KEYS do
  windows[i] = read(KEYS[i])
  if used(windows[i]) >= tonumber(ARGV[1 + 2 * i]) then
    local left = math.max(1, redis.call('PTTL', KEYS[i]))
    if left > wait then refusing, wait = i, left end
  end
end
if refusing > 0 then return { refusing, wait } end

local answer = { 0, now }
for i = 1, #KEYS do
  local window = windows[i]
  local anchored = window.counted > 0
  window.opening = window.opening or ARGV[2]
  if ARGV[1] == 'count' then window.counted = window.counted + 1 else window.flight = window.flight + 1 end
  write(KEYS[i], window)
  if not anchored then redis.call('PEXPIRE', KEYS[i], ARGV[2 + 2 * i]) end
  answer[2 + i] = window.opening
end
return answer`);

/** KEYS: the windows. ARGV: 'commit', 'reset' or 'release', the time of the reservation (ms), then window (ms) and opening of each key. */
export const SETTLE = script(`
local lease = math.floor(tonumber(ARGV[2]) / ${LEASE_MS})
for i = 1, #KEYS do
  local window = read(KEYS[i])
  if window.opening == ARGV[2 + 2 * i] then
    local length = tonumber(ARGV[1 + 2 * i])
    local anchored = window.counted > 0
    if lease >= window.turn then window.flight = math.max(0, window.flight - 1)
    elseif lease == window.turn - 1 then window.before = math.max(0, window.before - 1) end
    if ARGV[1] == 'commit' then window.counted = window.counted + 1 end
    if ARGV[1] == 'reset' then window.counted = 0 end
    if used(window) == 0 then
      redis.call('DEL', KEYS[i])
    else
      write(KEYS[i], window)
      local closes = tonumber(ARGV[2]) + length
      if ARGV[1] == 'commit' and (not anchored or now + redis.call('PTTL', KEYS[i]) > closes) then
        redis.call('PEXPIREAT', KEYS[i], string.format('%.0f', closes))
      elseif ARGV[1] == 'reset' then
        redis.call('PEXPIRE', KEYS[i], length)
      end
    end
  end
end
return 1`);

/** KEYS: one window. Returns {events that count, reservations in flight, ms until it closes (less than 1 if there is none)}. */
export const PEEK = script(`
local window = read(KEYS[1])
return { window.counted, window.flight + window.before, redis.call('PTTL', KEYS[1]) }`);
