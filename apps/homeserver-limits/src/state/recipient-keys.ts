import { createHmac, randomBytes } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { accountKey } from '@headgate/matrix-protocol';

const KEY_BYTES = 32;

/**
 * The keys under which email addresses and phone numbers count. They are digests with a secret: neither a log nor the
 * operator's API shows an address, and it can't be found by trying all of them.
 */
export class RecipientKeys {
  private loaded?: string | Buffer;

  /** @param secret is called once, for the first recipient */
  constructor(private readonly secret: () => string | Buffer) {}

  /** The key of an address, the same for all of its spellings; undefined if it is no text. */
  of(medium: 'email' | 'msisdn', address: unknown): string | undefined {
    const account = accountKey({ medium, address }, '');
    if (account === undefined) return undefined;
    this.loaded ??= this.secret();
    return `${medium}:${createHmac('sha256', this.loaded).update(account, 'utf8').digest('base64url')}`;
  }
}

/**
 * The secret of a single gateway, which it creates in its data directory, so that windows survive a restart.
 * @throws when the file can't be read or written
 */
export function recipientSecretIn(dataDir: string): Buffer {
  const path = join(dataDir, 'recipients.key');
  try {
    const known = readFileSync(path);
    if (known.length === KEY_BYTES) return known;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
  const secret = randomBytes(KEY_BYTES);
  writeFileSync(path, secret, { mode: 0o600 });
  return secret;
}
