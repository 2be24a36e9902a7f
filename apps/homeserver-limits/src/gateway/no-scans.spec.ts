import type { MatrixRequest } from '@headgate/homeserver-contracts';
import { ApplicationServices } from './application-services.js';
import { GatewayIdentity } from './gateway-identity.js';
import { HoldingsCache } from './holdings-cache.js';
import { iterationSteps } from './testing/iteration-steps.js';
import type { UpstreamQueries } from './upstream-queries.js';

const OTHERS = 5_000;
/** An operation may visit an entry to evict it. */
const FEW = 3;

test('the counter of these tests sees a scan, however it is written', () => {
  const map = new Map(Array.from({ length: 100 }, (_, i) => [i, i]));
  const scans = [
    () => [...map.values()],
    () => map.forEach(() => undefined),
    () => {
      for (const entry of map) if (entry[0] < 0) return;
    },
    () => Array.from(new Set(map.keys())),
  ];
  for (const scan of scans) expect(iterationSteps(scan)).toBeGreaterThanOrEqual(100);
  expect(iterationSteps(() => map.get(1))).toBe(0);
});

test('a logout visits no tokens of others', async () => {
  const asCaller = async (request: MatrixRequest) => ({ status: 200, body: { user_id: `@${request.token()}:b` } });
  const options = { serverName: 'b', ttlMs: 60_000 };
  const services = ApplicationServices.read([], 'b');
  const identity = new GatewayIdentity({ asCaller } as unknown as UpstreamQueries, services, options);
  const request = (token: string) => ({ token: () => token, query: new URLSearchParams() }) as unknown as MatrixRequest;
  for (let i = 0; i < OTHERS; i++) await identity.callerOf(request(`user${i}`));
  const steps = iterationSteps(() => {
    identity.forgetUserOf('user7');
    identity.forget('user7');
  });
  expect(steps).toBeLessThanOrEqual(FEW);
});

describe('a delayed event', () => {
  let cache: HoldingsCache;
  beforeEach(() => {
    cache = new HoldingsCache(undefined, () => 0);
    for (let i = 0; i < OTHERS; i++) cache.addDelayedEvent(`holder${i}`, `other${i}`, 1_000);
    cache.addDelayedEvent('holder', 'own', 1_000);
  });
  afterEach(() => cache.close());

  test.each<[string, () => unknown]>([
    ['scheduled', () => cache.addDelayedEvent('holder', 'next', 1_000)],
    ['restarted', () => cache.restartDelayedEvent('own')],
    ['ended', () => cache.endDelayedEvent('own')],
    ['counted', () => cache.delayedEvents('holder')],
  ])('that is %s visits none of other holders', (_what, action) => {
    expect(iterationSteps(action)).toBeLessThanOrEqual(FEW);
  });

  test('of a holder with thousands is scheduled without visiting all of them each time', () => {
    const steps = iterationSteps(() => {
      for (let i = 0; i < OTHERS; i++) cache.addDelayedEvent('holder', `own${i}`, 1_000);
    });
    expect(steps).toBeLessThan(3 * OTHERS);
  });
});
