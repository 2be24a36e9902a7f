import { CapLedger } from '@headgate/limits-core';
import { ok } from '@headgate/homeserver-contracts';
import { parseConfig } from '../config/config.js';
import { LiveConfig } from '../config/live-config.js';
import { Caps } from './caps.js';

describe('Caps', () => {
  let now: number;
  let counted: number;
  let held: number;
  let caps: Caps;

  beforeEach(() => {
    [now, counted, held] = [0, 0, 0];
    const config = new LiveConfig(parseConfig('[limits]\npushers_per_user = 2'));
    caps = new Caps(new CapLedger(), config, { maxAgeMs: 1000, maxRefusalAgeMs: 100 }, { now: () => now });
  });

  const write = (status = 200) =>
    caps.run(
      caps.pushers,
      { holder: '@a:b' },
      () => (counted++, held),
      async () => ({ ...ok(), status }),
    );

  test('counts accepted writes and nothing else', async () => {
    for (const status of [500, 400, 403, 200, 500, 200]) await write(status);
    await expect(write()).rejects.toMatchObject({ cap: 'pushers' });
  });

  test('releases the reservation when a write throws', async () => {
    const fail = () =>
      caps.run(
        caps.pushers,
        { holder: '@a:b' },
        () => held,
        () => Promise.reject(new Error('upstream')),
      );
    for (let i = 0; i < 5; i++) await expect(fail()).rejects.toThrow('upstream');
    expect((await write()).status).toBe(200);
  });

  test('counts once while the count is fresh', async () => {
    await write();
    await write();
    expect(counted).toBe(1);
  });

  test('counts again when the count is old', async () => {
    await write();
    now = 1000;
    held = 1;
    await write();
    expect(counted).toBe(2);
  });

  test('counts a holder again who always has a write in progress', async () => {
    const unfinished = Promise.withResolvers<ReturnType<typeof ok>>();
    const slow = caps.run(
      caps.pushers,
      { holder: '@a:b' },
      () => held,
      () => unfinished.promise,
    );
    await write();
    await expect(write()).rejects.toMatchObject({ cap: 'pushers' });
    // The user deletes one by another way.
    now = 100;
    held = 0;
    expect((await write()).status).toBe(200);
    unfinished.resolve(ok());
    await slow;
  });

  test('counts again before a refusal, but not for every refusal', async () => {
    await write();
    await write();
    now = 100;
    held = 1;
    expect((await write()).status).toBe(200);
    held = 2;
    for (let i = 0; i < 5; i++) await expect(write()).rejects.toMatchObject({ cap: 'pushers' });
    expect(counted).toBe(2);
  });
});
