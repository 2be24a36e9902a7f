import { PasswordHash } from './password-hash.js';

describe('PasswordHash', () => {
  const passwords = new PasswordHash();

  test('writes Argon2id with 19 MiB and a salt of its own each time', async () => {
    const [one, two] = await Promise.all([passwords.make('pw'), passwords.make('pw')]);
    expect(one).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/);
    expect(one).not.toBe(two);
  });

  test('knows the right password from a wrong one', async () => {
    const stored = await passwords.make('pw');
    expect(await passwords.verify('pw', stored)).toBe(true);
    expect(await passwords.verify('Pw', stored)).toBe(false);
  });

  test('does the same work for an account that does not exist, and lets nobody in', async () => {
    const before = passwords.verifications;
    expect(await passwords.verify('', undefined)).toBe(false);
    expect(passwords.verifications - before).toBe(1);
  });

  test('verifies a hash that another implementation made', async () => {
    const stored = '$argon2id$v=19$m=256,t=2,p=1$c29tZXNhbHQ$nf65EOgLrQMR/uIPnA4rEsF5h7TKyQwu9U1bMCHGi/4';
    expect(await passwords.verify('password', stored)).toBe(true);
  });
});
