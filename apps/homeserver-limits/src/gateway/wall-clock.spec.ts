import { CapLedger, MemoryRateLimiter } from '@headgate/limits-core';
import { type MatrixRequest, ok } from '@headgate/homeserver-contracts';
import { jest } from '@jest/globals';
import { parseConfig } from '../config/config.js';
import { LiveConfig } from '../config/live-config.js';
import { Caps } from '../rules/caps.js';
import { ApplicationServices } from './application-services.js';
import { GatewayIdentity } from './gateway-identity.js';
import { HoldingsCache } from './holdings-cache.js';
import type { UpstreamQueries } from './upstream-queries.js';

const DAY_MS = 24 * 3_600_000;

describe.each([
  ['forward', DAY_MS],
  ['back', -DAY_MS],
])('a wall clock that is set %s by a day', (_direction, stepMs) => {
  beforeEach(() => {
    // Only the wall clock: the monotonic one keeps running.
    jest.useFakeTimers({ doNotFake: EVERYTHING_ELSE });
  });
  afterEach(() => void jest.useRealTimers());

  const setClock = () => {
    const before = Date.now();
    jest.setSystemTime(before + stepMs);
    expect(Date.now() - before).toBe(stepMs);
  };

  test('does not age the cached owner of a token, or revive a revoked one', async () => {
    let lookups = 0;
    const asCaller = async () => ({ status: 200, body: { user_id: `@nora${lookups++}:b` } });
    const services = ApplicationServices.read([], 'b');
    const options = { serverName: 'b', ttlMs: 60_000 };
    const identity = new GatewayIdentity({ asCaller } as unknown as UpstreamQueries, services, options);
    const callerOf = (token: string) =>
      identity.callerOf({ token: () => token, query: new URLSearchParams() } as unknown as MatrixRequest);
    await callerOf('one');
    setClock();
    await callerOf('one');
    expect(lookups).toBe(1);
    identity.forgetUserOf('one');
    await callerOf('one');
    expect(lookups).toBe(2);
  });

  test('does not age the count of a holder', async () => {
    let counted = 0;
    const caps = new Caps(new CapLedger(), new LiveConfig(parseConfig('')), {
      maxAgeMs: 60_000,
      maxRefusalAgeMs: 60_000,
    });
    const write = () =>
      caps.run(
        caps.pushers,
        { holder: '@a:b' },
        () => counted++,
        async () => ok(),
      );
    await write();
    setClock();
    await write();
    expect(counted).toBe(1);
  });

  test('does not end delayed events and transactions', () => {
    const cache = new HoldingsCache(undefined);
    const caller = { userId: '@a:b', deviceId: 'D', exemptFromRates: false };
    const request = { params: { txnId: '1' }, target: '/send/1' } as unknown as MatrixRequest;
    cache.addDelayedEvent('holder', 'id', 60_000);
    cache.rememberTransaction(caller, request);
    setClock();
    expect([cache.delayedEvents('holder'), cache.wasScheduled(caller, request)]).toEqual([1, true]);
    cache.close();
  });

  test('closes no window of a rate, and keeps none open', async () => {
    const limiter = new MemoryRateLimiter();
    const rate = limiter.define('test', { limit: 1, windowMs: 60_000 });
    expect(limiter.count(rate, 'key')).toBeUndefined();
    setClock();
    // The limiter reads its clock once per turn of the event loop.
    for (let turn = 0; turn < 3; turn++) await new Promise((resume) => setImmediate(resume));
    const refusal = limiter.count(rate, 'key');
    expect(refusal?.retryAfterMs).toBeLessThanOrEqual(60_000);
    expect(refusal?.retryAfterMs).toBeGreaterThan(30_000);
  });
});

const EVERYTHING_ELSE = [
  ...(['hrtime', 'performance', 'nextTick', 'queueMicrotask'] as const),
  ...(['setImmediate', 'clearImmediate', 'setInterval', 'clearInterval', 'setTimeout', 'clearTimeout'] as const),
];
