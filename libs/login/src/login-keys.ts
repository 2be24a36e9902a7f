import { hkdfSync, randomBytes } from 'node:crypto';

const KEY_BYTES = 32;

/** The purposes of the keys: each has its own. */
export type KeyPurpose = 'progress of a login' | 'passkey challenge' | 'first account';

/**
 * The keys with which logins in progress are sealed. Replicas that have the same master key can open the logins of each
 * other; without one, the keys are those of this process.
 */
export class LoginKeys {
  /** @param master at least 256 random bits, in any encoding */
  constructor(private readonly master: Buffer = randomBytes(KEY_BYTES)) {}

  of(purpose: KeyPurpose): Buffer {
    return Buffer.from(hkdfSync('sha256', this.master, '', `headgate ${purpose}`, KEY_BYTES));
  }
}
