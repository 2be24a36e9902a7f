import { ADMINISTRATOR, Audit, TOKEN_ACTIONS, type Caller, type DeviceLogin } from '@headgate/domain-contracts';
import { FixedClock, MemoryAuditLog, MemoryDeviceLoginStore } from '@headgate/testing';
import { DeviceLogins, dropDeviceLoginsOf, MAX_DEVICE_LOGINS } from './device-logins.js';
import { LoginAttempts } from './login-attempts.js';
import { readUserCode } from './user-code.js';

const MINUTE_MS = 60_000;
const REQUEST = { machine: 'laptop', actions: TOKEN_ACTIONS, days: 30 };
const origin = (address: string) => ({ address, route: 'POST /' });
const ann: Caller = { login: 'ann', name: 'Ann', groups: ['ops'], grant: ADMINISTRATOR, origin: origin('192.0.2.1') };
const bob: Caller = { login: 'bob', name: '', grant: ADMINISTRATOR, origin: origin('192.0.2.2') };

describe('DeviceLogins', () => {
  let clock: FixedClock;
  let store: MemoryDeviceLoginStore;
  let log: MemoryAuditLog;
  let gone: Set<string>;
  let room: Error | undefined;
  let logins: DeviceLogins<string>;

  beforeEach(() => {
    clock = new FixedClock(Date.parse('2026-01-01T00:00:00Z'));
    store = new MemoryDeviceLoginStore();
    log = new MemoryAuditLog();
    gone = new Set();
    room = undefined;
    logins = new DeviceLogins({
      store,
      begins: new LoginAttempts(clock),
      guesses: new LoginAttempts(clock),
      clock,
      audit: new Audit(log, clock),
      isGone: (login) => gone.has(login),
      expectRoom: () => {
        if (room) throw room;
      },
      issue: async ({ machine }, { login, groups = [] }, address) => `${machine} ${login} [${groups}] ${address}`,
    });
  });

  const begin = (address = '203.0.113.1') => logins.begin(REQUEST, address);
  const poll = (code: string) => logins.poll(code, '203.0.113.1');

  test('gives a program its token once, after a user has approved it', async () => {
    const { login, deviceCode } = await begin();
    expect(await poll(deviceCode)).toEqual({ status: 'pending', seconds: 5 });
    expect(logins.find(login.userCode, ann)).toEqual(login);
    await logins.approve(login.userCode, ann);
    expect(await poll(deviceCode)).toEqual({ status: 'approved', issued: 'laptop ann [ops] 203.0.113.1' });
    expect(await poll(deviceCode)).toEqual({ status: 'expired' });
    expect(store.all()).toEqual([]);
  });

  test('gives only one of several requests at the same time the token', async () => {
    const { login, deviceCode } = await begin();
    await logins.approve(login.userCode, ann);
    const polls = await Promise.all([poll(deviceCode), poll(deviceCode), poll(deviceCode)]);
    expect(polls.map(({ status }) => status).sort()).toEqual(['approved', 'expired', 'expired']);
  });

  test('stores neither the device code nor a token', async () => {
    const { deviceCode } = await begin();
    expect(deviceCode).toMatch(/^[\w-]{43}$/);
    expect(JSON.stringify(store.all())).not.toContain(deviceCode);
  });

  test('has codes of consonants, and reads them however they are typed', async () => {
    const { login } = await begin();
    expect(login.userCode).toMatch(/^[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}$/);
    expect(logins.find(` ${login.userCode.toLowerCase().replace('-', ' ')} `, ann).id).toBe(login.id);
    expect(readUserCode('wdjbmjht')).toBe('WDJB-MJHT');
  });

  test('lets two users who decide at the same time decide once', async () => {
    const { login, deviceCode } = await begin();
    const { change } = store;
    // Both requests have found it before one of them is written.
    store.change = async (id, decide) => Promise.resolve().then(() => change(id, decide));
    const decided = await Promise.allSettled([logins.approve(login.userCode, bob), logins.deny(login.userCode, ann)]);
    expect(decided.map(({ status }) => status)).toEqual(['fulfilled', 'rejected']);
    expect(decided[1]).toMatchObject({ reason: { code: 'WRONG_STATE' } });
    expect(await poll(deviceCode)).toMatchObject({ status: 'approved', issued: expect.stringContaining(' bob ') });
  });

  test('reports a denied program as denied, once', async () => {
    const { login, deviceCode } = await begin();
    await logins.deny(login.userCode, ann);
    expect([await poll(deviceCode), await poll(deviceCode)]).toEqual([{ status: 'denied' }, { status: 'expired' }]);
    expect(() => logins.find(login.userCode, ann)).toThrow(/No program waits/);
  });

  test.each(['waiting', 'approved'])('ends after 10 minutes, %s', async (state) => {
    const { login, deviceCode } = await begin();
    if (state === 'approved') await logins.approve(login.userCode, ann);
    clock.advance(10 * MINUTE_MS);
    expect(await poll(deviceCode)).toEqual({ status: 'expired' });
    expect(() => logins.find(login.userCode, ann)).toThrow(/No program waits/);
    await begin();
    expect(store.all()).toHaveLength(1);
  });

  test('gives no token for a user who has lost their account since', async () => {
    const { login, deviceCode } = await begin();
    await logins.approve(login.userCode, ann);
    gone.add('ann');
    expect(await poll(deviceCode)).toEqual({ status: 'denied' });
  });

  test('takes back what a deleted user has approved, and nothing of others', async () => {
    const [first, second] = [await begin(), await begin()];
    await logins.approve(first.login.userCode, ann);
    await logins.approve(second.login.userCode, bob);
    const third = await begin();
    await dropDeviceLoginsOf(store, 'Ann');
    expect(await poll(first.deviceCode)).toEqual({ status: 'expired' });
    expect(await poll(second.deviceCode)).toMatchObject({ status: 'approved' });
    expect(await poll(third.deviceCode)).toMatchObject({ status: 'pending' });
  });

  test('lets a program that asks too early wait longer', async () => {
    const { deviceCode } = await begin();
    await poll(deviceCode);
    clock.advance(4_000);
    expect(await poll(deviceCode)).toEqual({ status: 'slow-down', seconds: 10 });
    clock.advance(5_000);
    expect(await poll(deviceCode)).toEqual({ status: 'slow-down', seconds: 15 });
    clock.advance(15_000);
    expect(await poll(deviceCode)).toEqual({ status: 'pending', seconds: 15 });
  });

  test('answers a stranger who guesses device codes like one whose code has ended', async () => {
    await begin();
    expect(await poll('A'.repeat(43))).toEqual({ status: 'expired' });
  });

  test('limits the codes that a user may guess, and those from one address', async () => {
    const { login } = await begin();
    const guess = (caller: Caller) => () => logins.find('BBBB-BBBB', caller);
    for (let count = 0; count < 10; count++) expect(guess(ann)).toThrow(/No program waits/);
    expect(guess(ann)).toThrow(/Too many attempts/);
    expect(() => logins.find(login.userCode, ann)).toThrow(/Too many attempts/);
    const from = (user: number): Caller => ({ ...bob, login: `user${user}` });
    for (let count = 0; count < 30; count++) expect(guess(from(count))).toThrow(/No program waits/);
    expect(guess(from(31))).toThrow(/Too many attempts/);
    clock.advance(15 * MINUTE_MS);
    const next = await begin();
    expect(logins.find(next.login.userCode, ann).id).toBe(next.login.id);
  });

  test('limits the programs that begin, by address and altogether', async () => {
    for (let count = 0; count < 30; count++) await begin();
    await expect(begin()).rejects.toMatchObject({ code: 'TOO_MANY_LOGINS' });
    const others = MAX_DEVICE_LOGINS - 30;
    for (let count = 0; count < others; count++) await begin(`198.51.100.${count}`);
    await expect(begin('192.0.2.9')).rejects.toMatchObject({
      code: 'TOO_MANY_LOGINS',
      details: { retryAfterSeconds: 60 },
    });
    expect(store.all()).toHaveLength(MAX_DEVICE_LOGINS);
    clock.advance(10 * MINUTE_MS);
    await begin('192.0.2.9');
    expect(store.all()).toHaveLength(1);
  });

  test.each<[string, Partial<Caller>]>([
    ['an API token, which would outlive its end', { token: 'a1b2c3d4e5' }],
    ['a caller without a login', { login: '' }],
  ])('is not decided by %s', async (_what, other) => {
    const { login } = await begin();
    await expect(logins.approve(login.userCode, { ...ann, ...other })).rejects.toMatchObject({ code: 'NOT_PERMITTED' });
    expect(store.all()).toEqual<DeviceLogin[]>([login]);
  });

  test('refuses an approval of a user who has too many programs, and the program waits on', async () => {
    const { login, deviceCode } = await begin();
    room = new Error('full');
    await expect(logins.approve(login.userCode, ann)).rejects.toThrow('full');
    expect(await poll(deviceCode)).toMatchObject({ status: 'pending' });
  });

  test('records who has decided about which machine', async () => {
    const [first, second] = [await begin(), await begin()];
    await logins.approve(first.login.userCode, ann);
    await logins.deny(second.login.userCode, bob);
    expect(log.entries.map(({ caller, action, ref, outcome }) => [caller, action, ref, outcome])).toEqual([
      ['ann', 'approve device login', 'device/laptop', 'ok'],
      ['bob', 'deny device login', 'device/laptop', 'ok'],
    ]);
  });
});
