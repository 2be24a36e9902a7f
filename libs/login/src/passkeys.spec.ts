import { Audit, type Author } from '@headgate/domain-contracts';
import {
  FixedClock,
  MemoryAccountStore,
  MemoryAuditLog,
  MemoryLoginSessionStore,
  SoftwareAuthenticator,
  type Deviation,
} from '@headgate/testing';
import { Accounts } from './accounts.js';
import { LoginAttempts } from './login-attempts.js';
import { PasskeyCeremony } from './passkey-ceremony.js';
import { LoginKeys } from './login-keys.js';
import { PasskeyChallenges } from './passkey-challenges.js';
import { MAX_PASSKEYS, Passkeys, type PasskeysDeps } from './passkeys.js';
import { Passwords } from './passwords.js';
import { Sessions } from './sessions.js';

const DAY_MS = 24 * 60 * 60_000;
const PASSWORD = 'correct horse battery';
const ORIGIN = 'https://headgate.example.org';
const author: Author = { login: 'root', name: '', origin: { address: '192.0.2.1', route: 'POST /' } };
const WRONG = { code: 'LOGIN_FAILED', message: expect.stringContaining('not valid here') as string };
const EXPIRED = { code: 'LOGIN_FAILED', message: expect.stringContaining('took too long') as string };

describe('Passkeys', () => {
  let clock: FixedClock;
  let store: MemoryAccountStore;
  let sessions: Sessions;
  let log: MemoryAuditLog;
  let accounts: Accounts;
  let deps: PasskeysDeps;
  let passkeys: Passkeys;
  let key: SoftwareAuthenticator;

  beforeEach(async () => {
    clock = new FixedClock(Date.parse('2026-01-01T00:00:00Z'));
    store = new MemoryAccountStore();
    sessions = new Sessions(new MemoryLoginSessionStore(), clock, { idleMs: DAY_MS, totalMs: DAY_MS });
    log = new MemoryAuditLog();
    const [attempts, audit] = [new LoginAttempts(clock), new Audit(log, clock)];
    const revokeTokens = (): Promise<void> => Promise.resolve();
    const passwords = new Passwords();
    const keys = new LoginKeys();
    accounts = new Accounts({ store, sessions, passwords, attempts, clock, audit, keys, revokeTokens });
    const ceremony = new PasskeyCeremony(new URL(ORIGIN));
    const challenges = new PasskeyChallenges(clock, keys);
    deps = { store, accounts, sessions, attempts, challenges, ceremony, clock, audit };
    passkeys = new Passkeys(deps);
    key = new SoftwareAuthenticator(ORIGIN);
    const request = { login: 'ann', name: 'Ann', isAdmin: true };
    await accounts.createFirst(accounts.firstSecret() ?? '', request, PASSWORD, author);
  });

  const begin = (login = 'ann', session = 's1') => passkeys.beginRegistration(login, PASSWORD, session, author);
  const add = async (from = key, login = 'ann', deviation: Deviation = {}) => {
    const { challenge, sealed, account } = await begin(login);
    const answer = from.create({ challenge, user: { id: account.handle } }, deviation);
    return passkeys.register({ login, session: 's1', name: 'laptop', sealed }, answer, author);
  };
  const logIn = (from = key, deviation: Deviation = {}) => {
    const { challenge, sealed } = passkeys.beginLogin();
    return passkeys.logIn(from.get({ challenge }, deviation), sealed, author);
  };
  const addBob = async (): Promise<void> => {
    const { secret } = await accounts.create({ login: 'bob', name: '', isAdmin: true }, author);
    await accounts.setUp('bob', secret, PASSWORD, author);
  };

  test('adds passkeys with names, and logs in with each of them', async () => {
    await add();
    const other = new SoftwareAuthenticator(ORIGIN);
    await add(other);
    clock.advance(1000);
    expect(await logIn(other)).toMatchObject({ account: { login: 'ann' }, passkey: { name: 'laptop' } });
    expect(passkeys.of('ANN').map(({ id, lastUsedAt }) => [id, lastUsedAt])).toEqual([
      [key.id, undefined],
      [other.id, '2026-01-01T00:00:01.000Z'],
    ]);
    expect(await logIn()).toMatchObject({ passkey: { id: key.id } });
    expect(log.recent().map(({ action, message }) => [action, message])).toContainEqual(['add passkey', 'laptop']);
  });

  test('needs the password for a new passkey, so that a stolen session can not add one', async () => {
    await expect(passkeys.beginRegistration('ann', 'wrong password', 's1', author)).rejects.toMatchObject({
      code: 'LOGIN_FAILED',
    });
  });

  test.each<[string, Deviation]>([
    ['of a page with another origin', { origin: 'https://headgate.example.org.evil.example' }],
    ['of another port', { origin: 'https://headgate.example.org:8443' }],
    ['for another name', { rpId: 'evil.example' }],
    ['without verification of the user', { isVerified: false }],
    ['for another challenge', { challenge: 'AAAA' }],
    ['of a page in a frame of another site', { crossOrigin: true }],
    ['that was given for the other purpose', { type: 'webauthn.other' }],
  ])('refuses an answer %s', async (_title, deviation) => {
    await expect(add(key, 'ann', deviation)).rejects.toMatchObject({ code: 'LOGIN_FAILED' });
    expect(passkeys.of('ann')).toEqual([]);
    await add();
    await expect(logIn(key, deviation)).rejects.toMatchObject(WRONG);
    expect(passkeys.of('ann')[0]?.lastUsedAt).toBeUndefined();
  });

  test('answers the same for an unknown passkey, another key, another account and a disabled account', async () => {
    await addBob();
    await add();
    await expect(logIn(new SoftwareAuthenticator(ORIGIN))).rejects.toMatchObject(WRONG);
    const forger = new SoftwareAuthenticator(ORIGIN);
    Object.assign(forger, { id: key.id, userHandle: key.userHandle });
    await expect(logIn(forger)).rejects.toMatchObject(WRONG);
    const handle = key.userHandle;
    key.userHandle = 'AAAA';
    await expect(logIn()).rejects.toMatchObject(WRONG);
    key.userHandle = handle;
    await accounts.update('ann', { isDisabled: true }, author);
    await expect(logIn()).rejects.toMatchObject(WRONG);
    await accounts.update('ann', { isDisabled: false }, author);
    expect((await logIn()).account.login).toBe('ann');
  });

  test('uses each challenge once, also at the same time, and only in its browser and time', async () => {
    await add();
    const { challenge, sealed } = passkeys.beginLogin();
    const answer = key.get({ challenge });
    const both = await Promise.allSettled([
      passkeys.logIn(answer, sealed, author),
      passkeys.logIn(answer, sealed, author),
    ]);
    expect(both.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    await expect(passkeys.logIn(answer, sealed, author)).rejects.toMatchObject(EXPIRED);
    const [mine, other] = [passkeys.beginLogin(), passkeys.beginLogin()];
    const own = key.get({ challenge: mine.challenge });
    await expect(passkeys.logIn(own, other.sealed, author)).rejects.toMatchObject(WRONG);
    for (const text of [undefined, '', 'AAAA', `${mine.sealed}A`.slice(1)])
      await expect(passkeys.logIn(own, text, author)).rejects.toMatchObject(EXPIRED);
    clock.advance(300_000);
    await expect(passkeys.logIn(own, mine.sealed, author)).rejects.toMatchObject(EXPIRED);
  });

  test('binds a new passkey to the session that has given the password', async () => {
    const { challenge, sealed, account } = await begin('ann', 's1');
    const answer = key.create({ challenge, user: { id: account.handle } });
    const target = { login: 'ann', session: 's2', name: 'x', sealed };
    await expect(passkeys.register(target, answer, author)).rejects.toMatchObject(EXPIRED);
    const { challenge: forLogin, sealed: login } = passkeys.beginLogin();
    const crossed = key.create({ challenge: forLogin, user: { id: account.handle } });
    await expect(passkeys.register({ ...target, session: 's1', sealed: login }, crossed, author)).rejects.toMatchObject(
      EXPIRED,
    );
    await passkeys.register({ ...target, session: 's1' }, answer, author);
    await expect(passkeys.register({ ...target, session: 's1' }, answer, author)).rejects.toMatchObject(EXPIRED);
  });

  test('refuses a passkey for good when its counter goes back, and other passkeys work', async () => {
    await add();
    await logIn();
    const other = new SoftwareAuthenticator(ORIGIN);
    await add(other);
    key.counter = 1;
    await expect(logIn()).rejects.toThrow('A copy of the passkey laptop may exist');
    key.counter = 50;
    await expect(logIn()).rejects.toThrow('A copy of the passkey laptop may exist');
    expect(passkeys.of('ann')[0]).toMatchObject({ copiedAt: '2026-01-01T00:00:00.000Z', counter: 2 });
    expect(log.recent().filter(({ action }) => action === 'refuse passkey')).toMatchObject([
      { ref: 'account/ann', outcome: 'error' },
      { ref: 'account/ann', outcome: 'error' },
    ]);
    expect((await logIn(other)).account.login).toBe('ann');
  });

  test('does not believe a counter without the key, with which anyone could block a passkey', async () => {
    await add();
    await logIn();
    const forger = new SoftwareAuthenticator(ORIGIN);
    Object.assign(forger, { id: key.id, userHandle: key.userHandle, counter: 0 });
    await expect(logIn(forger)).rejects.toMatchObject(WRONG);
    expect(passkeys.of('ann')[0]?.copiedAt).toBeUndefined();
  });

  test('accepts passkeys without a counter again and again', async () => {
    key.counter = 0;
    await add();
    for (let index = 0; index < 3; index++) expect((await logIn()).passkey.counter).toBe(0);
  });

  test('refuses a passkey that another account has', async () => {
    await addBob();
    await add();
    const thief = new SoftwareAuthenticator(ORIGIN);
    thief.id = key.id;
    await expect(add(thief, 'bob')).rejects.toMatchObject({ code: 'ALREADY_EXISTS' });
    expect((await logIn()).account.login).toBe('ann');
  });

  test('refuses an ID that is not the one in the signed data', async () => {
    const { challenge, sealed, account } = await begin();
    const answer = { ...key.create({ challenge, user: { id: account.handle } }), id: 'AAAA' };
    const target = { login: 'ann', session: 's1', name: 'x', sealed };
    await expect(passkeys.register(target, answer, author)).rejects.toMatchObject({ code: 'LOGIN_FAILED' });
  });

  test('removes a passkey and ends the other sessions, and refuses it then', async () => {
    await add();
    const open = () => sessions.open({ login: 'ann', name: '', groups: [], provider: '', address: '', agent: '' });
    const [own, other] = [await open(), await open()];
    await expect(passkeys.remove('ann', 'AAAA', own.session.id, author)).rejects.toMatchObject({
      code: 'PASSKEY_NOT_FOUND',
    });
    await addBob();
    await expect(passkeys.remove('bob', key.id, undefined, author)).rejects.toMatchObject({
      code: 'PASSKEY_NOT_FOUND',
    });
    await passkeys.remove('ann', key.id, own.session.id, author);
    expect([sessions.authenticate(own.text)?.login, sessions.authenticate(other.text)]).toEqual(['ann', undefined]);
    await expect(logIn()).rejects.toMatchObject(WRONG);
  });

  test('keeps the last way to log in', async () => {
    await add();
    await store.change('ann', ({ password: _password, ...one }) => one);
    await expect(passkeys.remove('ann', key.id, undefined, author)).rejects.toMatchObject({ code: 'CONFLICT' });
    expect((await logIn()).account.login).toBe('ann');
  });

  test('removes the passkeys of an account that an administrator resets', async () => {
    await addBob();
    await add();
    await accounts.reset('ann', author);
    await expect(logIn()).rejects.toMatchObject(WRONG);
  });

  test('refuses the answer of an authenticator whose account is deleted meanwhile', async () => {
    await addBob();
    await add();
    const { challenge, sealed } = passkeys.beginLogin();
    const running = passkeys.logIn(key.get({ challenge }), sealed, author);
    await store.delete('ann');
    await expect(running).rejects.toMatchObject(WRONG);
  });

  test(`accepts ${MAX_PASSKEYS} passkeys`, async () => {
    await add();
    const [one] = passkeys.of('ann');
    const full = Array.from({ length: MAX_PASSKEYS }, (_, index) => ({ ...one!, id: `id${index}` }));
    await store.change('ann', (account) => ({ ...account, passkeys: full }));
    await expect(add(new SoftwareAuthenticator(ORIGIN))).rejects.toMatchObject({ code: 'CONFLICT' });
  });

  test('limits wrong answers of one address, and not the right ones', async () => {
    await add();
    for (let index = 0; index < 31; index++) await logIn();
    for (let index = 0; index < 30; index++)
      await logIn(key, { origin: 'https://evil.example' }).catch(() => undefined);
    await expect(logIn()).rejects.toMatchObject({ code: 'TOO_MANY_LOGINS' });
  });

  test('is off without an address', () => {
    const off = new Passkeys({ ...deps, ceremony: undefined });
    expect(off.areUsed).toBe(false);
    expect(() => off.beginLogin()).toThrow('set login.address');
  });
});
