import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { RecipientKeys, recipientSecretIn } from './recipient-keys.js';

describe('RecipientKeys', () => {
  const keys = new RecipientKeys(() => 'secret');

  test('are the same for all spellings of an address, and show none', () => {
    const key = keys.of('email', 'Nora@Mail.example');
    expect(key).toBe(keys.of('email', 'nora@mail.EXAMPLE'));
    expect(key).toMatch(/^email:[\w-]{43}$/);
    expect(key).not.toBe(keys.of('email', 'nora2@mail.example'));
    const phone = keys.of('msisdn', '+49 170 1234567');
    expect(phone).toBe(keys.of('msisdn', '01701234567'));
    expect(phone).toMatch(/^msisdn:[\w-]{43}$/);
  });

  test('depend on the secret, which is read for the first recipient only', () => {
    let reads = 0;
    const other = new RecipientKeys(() => `other ${++reads}`);
    expect(reads).toBe(0);
    const key = other.of('email', 'a@b.example');
    expect(key).not.toBe(keys.of('email', 'a@b.example'));
    expect(other.of('email', 'a@b.example')).toBe(key);
    expect(reads).toBe(1);
  });

  test.each([undefined, null, 5, ['a@b.example'], {}])('do not exist for %j', (address) =>
    expect(keys.of('email', address)).toBeUndefined(),
  );
});

test('the secret of a gateway is created once, for its own account only', () => {
  const folder = mkdtempSync(join(tmpdir(), 'recipients-'));
  try {
    const secret = recipientSecretIn(folder);
    expect(secret).toHaveLength(32);
    expect(recipientSecretIn(folder)).toEqual(secret);
    expect(statSync(join(folder, 'recipients.key')).mode & 0o777).toBe(0o600);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
