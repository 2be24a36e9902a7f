import { CapLedger } from '@headgate/limits-core';
import { type Caller, jsonResponse, type MatrixRequest } from '@headgate/homeserver-contracts';
import type { JsonObject } from '@headgate/matrix-protocol';
import { DelayedEventCaps } from '../bounds/delayed-event-caps.js';
import { parseConfig } from '../config/config.js';
import { LiveConfig } from '../config/live-config.js';
import { Caps } from '../rules/caps.js';
import type { AccountDataSeed } from './account-data-seed.js';
import type { GatewayIdentity } from './gateway-identity.js';
import { HoldingsCache } from './holdings-cache.js';
import { HoldingsObserver } from './holdings-observer.js';
import { UpstreamHoldings } from './upstream-holdings.js';
import type { UpstreamQueries } from './upstream-queries.js';

const NORA: Caller = { userId: '@nora:b', deviceId: 'D', exemptFromRates: false };
const HOLDER = '@nora:b D';
/** The result of Dendrite 0.15.2 to an upload by a device that holds 450 keys of one algorithm and 500 of another. */
const OF_950 = { one_time_key_counts: { signed_curve25519: 50, 'x.second': 50 } };
/** And by one that holds 60. */
const OF_60 = { one_time_key_counts: { signed_curve25519: 60 } };

let cache: HoldingsCache;
let caps: Caps;
beforeEach(() => {
  cache = new HoldingsCache(undefined);
  const config = new LiveConfig(parseConfig('[delayed_events]\nmax_per_room = 1'));
  caps = new Caps(new CapLedger(), config, { maxAgeMs: 60_000, maxRefusalAgeMs: 0 });
});
afterEach(() => cache.close());

describe('one-time keys, of which Dendrite counts 100', () => {
  let answer: JsonObject;
  let meanwhile: () => Promise<void>;
  beforeEach(() => {
    answer = OF_950;
    meanwhile = async () => undefined;
  });

  const held = () => {
    const asCaller = async () => {
      const body = answer;
      await meanwhile();
      return { status: 200, body, retryAfter: undefined };
    };
    const holdings = new UpstreamHoldings({ asCaller } as unknown as UpstreamQueries, cache, {} as AccountDataSeed);
    return holdings.oneTimeKeys(NORA, {} as MatrixRequest);
  };
  const upload = (count: number, result: object = OF_950, status = 200) => {
    const keys = Object.fromEntries(Array.from({ length: count }, (_, i) => [`x:${i}`, {}]));
    const observer = new HoldingsObserver({
      identity: { callerOf: async () => NORA } as unknown as GatewayIdentity,
      cache,
      caps,
      exists: async () => false,
    });
    const request = { json: async () => ({ one_time_keys: keys }) } as unknown as MatrixRequest;
    return observer.observe(request, 'uploadKeys', jsonResponse(status, result));
  };

  test('are as many as were uploaded through the gateway', async () => {
    caps.ledger.reconcile(caps.oneTimeKeys, HOLDER, 0);
    await upload(450);
    expect(await held()).toBe(450);
    await upload(500);
    await upload(500, OF_950, 500);
    await upload(0);
    expect(await held()).toBe(950);
  });

  test('are at least 100 of a device that is not known yet', async () => {
    expect(await held()).toBe(100);
    await upload(10);
    expect(await held()).toBe(110);
  });

  test('are exact again as soon as fewer than 100 are left', async () => {
    await upload(450);
    answer = OF_60;
    expect(await held()).toBe(60);
    answer = OF_950;
    expect(await held()).toBe(100);
    await upload(5, OF_60);
    expect(await held()).toBe(100);
  });

  test('stay counted when their upload ends while an older report is on its way', async () => {
    await upload(100);
    answer = OF_60;
    meanwhile = () => upload(450);
    await held();
    answer = OF_950;
    meanwhile = async () => undefined;
    expect(await held()).toBe(650);
  });

  test('are those that a homeserver reports which counts all', async () => {
    await upload(450);
    answer = { one_time_key_counts: { signed_curve25519: 101 } };
    expect(await held()).toBe(101);
  });

  test('have a result without their number', async () => {
    answer = {};
    await expect(held()).rejects.toThrow('did not report');
  });
});

describe('a delay, which Dendrite ignores,', () => {
  const send = (result: object) => {
    const holdings = { delayedEvents: () => 0, wasScheduled: () => false };
    const deps = { caps, rules: { isExempt: () => false }, holdings, watch: () => undefined };
    const config = new LiveConfig(parseConfig(''));
    const delayed = new DelayedEventCaps({ ...deps, config } as unknown as ConstructorParameters<
      typeof DelayedEventCaps
    >[0]);
    const request = { param: () => '!r:b' } as unknown as MatrixRequest;
    return delayed.run(NORA, request, 60_000, async () => jsonResponse(200, result));
  };
  /** Whether an event has taken the only place. */
  const isFull = () => send({ delay_id: 'd' }).then(() => false, () => true); // prettier-ignore

  test('leaves the event that was sent at once uncounted', async () => {
    for (let i = 0; i < 3; i++) await send({ event_id: '$jvEBItKAsaykRVOTOi_0HvgDjS12lPC' });
    expect(await isFull()).toBe(false);
  });

  test.each([[{ delay_id: 'd' }], [{ delay_id: 'd', event_id: '$e' }], [{}]])(
    'counts an event with %j',
    async (result) => {
      await send(result);
      expect(caps.ledger.held(caps.delayedEvents, '@nora:b !r:b')).toBe(1);
    },
  );
});
