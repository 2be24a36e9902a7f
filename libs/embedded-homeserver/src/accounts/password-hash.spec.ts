import { PasswordHash } from './password-hash.js';

describe('PasswordHash', () => {
  const passwords = new PasswordHash();

  test('uses Argon2id with 19 MiB and a new salt each time', async () => {
    const [one, two] = await Promise.all([passwords.hash('pw'), passwords.hash('pw')]);
    expect(one).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/);
    expect(one).not.toBe(two);
  });

  test('distinguishes the correct password from a wrong one', async () => {
    const stored = await passwords.hash('pw');
    expect(await passwords.verify('pw', stored)).toBe(true);
    expect(await passwords.verify('Pw', stored)).toBe(false);
  });

  test('does the same work for an account that does not exist, and refuses it', async () => {
    const before = passwords.verifications;
    expect(await passwords.verify('', undefined)).toBe(false);
    expect(passwords.verifications - before).toBe(1);
  });

  test('verifies a hash of another implementation', async () => {
    const stored = '$argon2id$v=19$m=256,t=2,p=1$c29tZXNhbHQ$nf65EOgLrQMR/uIPnA4rEsF5h7TKyQwu9U1bMCHGi/4';
    expect(await passwords.verify('password', stored)).toBe(true);
  });
});
