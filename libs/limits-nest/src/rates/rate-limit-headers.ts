import type { Rate, RateExceeded, RateKey, RateLimiter } from '@headgate/limits-core';
import { type Reply, retryAfterSeconds, setExposedHeaders } from '../http/reply.js';

/** A string of HTTP structured fields (RFC 9651), which are ASCII. */
const quote = (name: string): string => `"${name.replace(/[^\x20-\x7e]/g, '?').replace(/["\\]/g, '\\$&')}"`;

const limitOf = ({ rate, limit = rate.limit }: RateKey): number => limit;

const policy = (key: RateKey): string =>
  `${quote(key.rate.name)};q=${limitOf(key)};w=${retryAfterSeconds(key.rate.windowMs)}`;

const quota = ({ name }: Rate, remaining: number, ms: number): string =>
  `${quote(name)};r=${remaining};t=${retryAfterSeconds(ms)}`;

/**
 * Sets `RateLimit-Policy` and `RateLimit` (draft-ietf-httpapi-ratelimit-headers-11) after those of rules that ran
 * before.
 */
function setHeaders(reply: Reply, keys: readonly RateKey[], quotas: readonly string[]): void {
  const append = (header: string, items: readonly string[]) =>
    [reply.getHeader(header) ?? [], items].flat().map(String).join(', ');
  setExposedHeaders(reply, {
    RateLimit: append('RateLimit', quotas),
    'RateLimit-Policy': append('RateLimit-Policy', keys.map(policy)),
  });
}

/** Reports the refusing rate only: it has no quota left, and the others were not counted. */
export function setRefusalHeaders(reply: Reply, keys: readonly RateKey[], { rate, retryAfterMs }: RateExceeded): void {
  const refusing = keys.filter((key) => key.rate.name === rate);
  setHeaders(
    reply,
    refusing,
    refusing.map((key) => quota(key.rate, 0, retryAfterMs)),
  );
}

/**
 * Reports the remaining quota of each key. If one is exhausted, only that one: the next request depends on it alone.
 */
export async function setQuotaHeaders(reply: Reply, keys: readonly RateKey[], limiter: RateLimiter): Promise<void> {
  const states = await Promise.all(
    keys.map(async (key) => {
      const { counted, inFlight, closesInMs } = await limiter.peek(key.rate, key.key);
      return { key, remaining: Math.max(0, limitOf(key) - counted - inFlight), closesInMs };
    }),
  );
  const exhausted = states.filter(({ remaining }) => remaining === 0);
  const reported = exhausted.length > 0 ? exhausted : states;
  setHeaders(
    reply,
    keys,
    reported.map(({ key, remaining, closesInMs }) => quota(key.rate, remaining, closesInMs)),
  );
}
