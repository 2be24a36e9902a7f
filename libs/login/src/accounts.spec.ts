import { Audit, type Author } from '@headgate/domain-contracts';
import { FixedClock, MemoryAccountStore, MemoryAuditLog, MemoryLoginSessionStore } from '@headgate/testing';
import { Accounts } from './accounts.js';
import { LoginAttempts } from './login-attempts.js';
import { LoginKeys } from './login-keys.js';
import { Passwords } from './passwords.js';
import { Sessions } from './sessions.js';

const DAY_MS = 24 * 60 * 60_000;
const PASSWORD = 'correct horse battery';
const OTHER = 'another staple, please';
const author: Author = { login: 'root', name: '', origin: { address: '192.0.2.1', route: 'POST /' } };

describe('Accounts', () => {
  let clock: FixedClock;
  let store: MemoryAccountStore;
  let sessions: Sessions;
  let passwords: Passwords;
  let log: MemoryAuditLog;
  let accounts: Accounts;
  let revoked: string[];

  beforeEach(() => {
    clock = new FixedClock(Date.parse('2026-01-01T00:00:00Z'));
    store = new MemoryAccountStore();
    sessions = new Sessions(new MemoryLoginSessionStore(), clock, { idleMs: DAY_MS, totalMs: DAY_MS });
    passwords = new Passwords();
    log = new MemoryAuditLog();
    const attempts = new LoginAttempts(clock);
    revoked = [];
    accounts = new Accounts({
      store,
      sessions,
      passwords,
      attempts,
      clock,
      audit: new Audit(log, clock),
      keys: new LoginKeys(),
      revokeTokens: async (login) => void revoked.push(`${login}: ${store.get(login) ? 'exists' : 'gone'}`),
    });
  });

  const createFirst = () =>
    accounts.createFirst(accounts.firstSecret() ?? '', { login: 'Ann', name: 'Ann', isAdmin: true }, PASSWORD, author);
  const addBob = async (): Promise<string> =>
    (await accounts.create({ login: 'bob', name: '', isAdmin: false }, author)).secret;
  const sessionOf = (login: string) =>
    sessions.open({ login, name: '', groups: [], provider: '', address: '', agent: '' });

  test('creates the first account with the secret of the start, once', async () => {
    const secret = accounts.firstSecret() ?? '';
    await expect(
      accounts.createFirst('wrong', { login: 'eve', name: '', isAdmin: true }, PASSWORD, author),
    ).rejects.toMatchObject({ code: 'LOGIN_FAILED' });
    const request = { login: 'ann', name: '', isAdmin: true };
    const both = await Promise.allSettled([
      accounts.createFirst(secret, request, PASSWORD, author),
      accounts.createFirst(secret, { ...request, login: 'eve' }, PASSWORD, author),
    ]);
    expect(both.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    expect([accounts.all().length, accounts.firstSecret()]).toEqual([1, undefined]);
    await expect(accounts.createFirst(secret, request, PASSWORD, author)).rejects.toThrow('already used');
  });

  test('revokes the tokens of a login before it gets an account, and after it has lost it, and no others', async () => {
    await createFirst();
    await addBob();
    expect(revoked).toEqual(['ann: gone', 'bob: gone']);
    await expect(addBob()).rejects.toMatchObject({ code: 'ALREADY_EXISTS' });
    await expect(accounts.delete('ann', author)).rejects.toMatchObject({ code: 'CONFLICT' });
    await accounts.update('bob', { isDisabled: true }, author);
    expect(revoked).toHaveLength(2);
    await accounts.delete('BOB', author);
    expect(revoked.slice(2)).toEqual(['bob: gone']);
    const both = await Promise.allSettled([addBob(), addBob()]);
    expect(both.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
  });

  test('stores passwords with argon2id and their own salt', async () => {
    await createFirst();
    const { password } = accounts.get('ann') ?? {};
    expect(password).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
    expect(await passwords.hash(PASSWORD)).not.toBe(password);
    expect(JSON.stringify(store.all())).not.toContain(PASSWORD);
  });

  test('logs in with the right password, whatever the case of the login', async () => {
    await createFirst();
    expect(await accounts.logIn('ANN', PASSWORD, author)).toMatchObject({ login: 'ann' });
    await expect(accounts.logIn('ann', OTHER, author)).rejects.toMatchObject({ code: 'LOGIN_FAILED' });
  });

  test('does the same work, with the same answer, for unknown, disabled and new accounts', async () => {
    await createFirst();
    await addBob();
    await accounts.create({ login: 'carl', name: '', isAdmin: false }, author);
    await accounts.update('carl', { isDisabled: true }, author);
    const answers = [];
    for (const login of ['ann', 'bob', 'carl', 'zoe', '$argon2id$']) {
      const before = passwords.hashed;
      const { code, message } = (await accounts
        .logIn(login, OTHER, author)
        .catch((error: unknown) => error)) as Error & {
        code: string;
      };
      answers.push([code, message, passwords.hashed - before]);
    }
    expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1);
    expect(answers[0]).toEqual(['LOGIN_FAILED', 'The login or the password is wrong.', 1]);
  });

  test('refuses the right password after too many wrong ones from many addresses, but not a recovery code', async () => {
    await createFirst();
    const [code = ''] = await accounts.createRecoveryCodes('ann', PASSWORD, author);
    for (let index = 0; index < 10; index++) {
      const origin = { address: `192.0.2.${index}`, route: '' };
      await accounts.logIn('ann', OTHER, { ...author, origin }).catch(() => undefined);
    }
    const hashed = passwords.hashed;
    await expect(accounts.logIn('ann', PASSWORD, author)).rejects.toMatchObject({ code: 'TOO_MANY_LOGINS' });
    expect(passwords.hashed).toBe(hashed);
    expect(await accounts.recover('ann', code, OTHER, author)).toMatchObject({ login: 'ann' });
  });

  test('refuses guesses of recovery codes after too many wrong ones, for unknown logins as well', async () => {
    await createFirst();
    const [code = ''] = await accounts.createRecoveryCodes('ann', PASSWORD, author);
    for (const login of ['ann', 'zoe']) {
      for (let index = 0; index < 10; index++) {
        const origin = { address: `192.0.2.${index}`, route: '' };
        await expect(accounts.recover(login, 'AAAAA', OTHER, { ...author, origin })).rejects.toMatchObject({
          code: 'LOGIN_FAILED',
        });
      }
      await expect(accounts.recover(login, code, OTHER, author)).rejects.toMatchObject({ code: 'TOO_MANY_LOGINS' });
    }
    // The password has its own counter.
    expect(await accounts.logIn('ann', PASSWORD, author)).toMatchObject({ login: 'ann' });
  });

  test('lets a user set the password of a new account once, within three days', async () => {
    await createFirst();
    const secret = await addBob();
    await expect(accounts.setUp('ann', secret, OTHER, author)).rejects.toMatchObject({ code: 'LOGIN_FAILED' });
    expect(await accounts.setUp('bob', secret, OTHER, author)).toMatchObject({ login: 'bob' });
    await expect(accounts.setUp('bob', secret, PASSWORD, author)).rejects.toMatchObject({ code: 'LOGIN_FAILED' });
    const late = await accounts.reset('bob', author);
    clock.advance(3 * DAY_MS);
    await expect(accounts.setUp('bob', late.secret, OTHER, author)).rejects.toMatchObject({ code: 'LOGIN_FAILED' });
    await expect(accounts.logIn('bob', OTHER, author)).rejects.toMatchObject({ code: 'LOGIN_FAILED' });
  });

  test.each([
    ['disabled', () => accounts.update('bob', { isDisabled: true }, author)],
    ['turned into an administrator', () => accounts.update('bob', { isAdmin: true }, author)],
    ['reset', () => accounts.reset('bob', author)],
    ['deleted', () => accounts.delete('bob', author)],
  ])('ends the sessions of an account that is %s, and no others', async (_title, change) => {
    await createFirst();
    await accounts.setUp('bob', await addBob(), OTHER, author);
    const [ann, bob] = [await sessionOf('ann'), await sessionOf('bob')];
    await change();
    expect([sessions.authenticate(bob.text), sessions.authenticate(ann.text)?.login]).toEqual([undefined, 'ann']);
  });

  test('keeps the last administrator', async () => {
    await createFirst();
    await addBob();
    for (const change of [
      () => accounts.delete('ann', author),
      () => accounts.update('ann', { isAdmin: false }, author),
      () => accounts.update('ann', { isDisabled: true }, author),
    ])
      await expect(change()).rejects.toMatchObject({ code: 'CONFLICT' });
    await accounts.update('bob', { isAdmin: true }, author);
    await accounts.delete('ann', author);
    expect([accounts.isAdmin('ann'), accounts.isAdmin('bob')]).toEqual([false, true]);
  });

  test('changes the own password, and ends the other sessions', async () => {
    await createFirst();
    const [own, other] = [await sessionOf('ann'), await sessionOf('ann')];
    const change = { current: OTHER, next: OTHER, except: own.session.id };
    await expect(accounts.changePassword('ann', change, author)).rejects.toMatchObject({ code: 'LOGIN_FAILED' });
    await accounts.changePassword('ann', { ...change, current: PASSWORD }, author);
    expect([sessions.authenticate(own.text)?.login, sessions.authenticate(other.text)]).toEqual(['ann', undefined]);
    expect(await accounts.logIn('ann', OTHER, author)).toMatchObject({ login: 'ann' });
  });

  test('accepts each recovery code once, however it is typed', async () => {
    await createFirst();
    const [first = '', second = ''] = await accounts.createRecoveryCodes('ann', PASSWORD, author);
    const typed = ` ${first.toLowerCase().replaceAll('-', ' ')} `;
    const session = await sessionOf('ann');
    const used = await Promise.allSettled([
      accounts.recover('ann', typed, OTHER, author),
      accounts.recover('ann', first, OTHER, author),
    ]);
    expect(used.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    expect(sessions.authenticate(session.text)).toBeUndefined();
    expect(accounts.get('ann')?.recovery).toHaveLength(9);
    await accounts.createRecoveryCodes('ann', OTHER, author);
    await expect(accounts.recover('ann', second, OTHER, author)).rejects.toMatchObject({ code: 'LOGIN_FAILED' });
  });

  test.each(['', 'a b', 'corp:ann', 'ä', 'a'.repeat(101), '-a', 'a/b'])('refuses the login "%s"', async (login) => {
    await expect(accounts.create({ login, name: '', isAdmin: false }, author)).rejects.toThrow('login must have');
  });

  test('refuses a short password and an existing login', async () => {
    await createFirst();
    await expect(addBob().then((secret) => accounts.setUp('bob', secret, 'short', author))).rejects.toThrow(
      'at least 12 characters',
    );
    await expect(accounts.create({ login: 'ANN', name: '', isAdmin: true }, author)).rejects.toMatchObject({
      code: 'ALREADY_EXISTS',
    });
  });
});
