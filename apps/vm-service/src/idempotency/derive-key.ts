import { hkdfSync } from 'node:crypto';

const KEY_BYTES = 32;

/**
 * A key of 256 bits from an idempotency key (HKDF, RFC 5869).
 * @param scope the salt: other callers and paths have other keys
 */
export const deriveKey = (key: string, scope: string, purpose: 'request' | 'answer'): Buffer =>
  Buffer.from(hkdfSync('sha256', key, scope, `headgate idempotency ${purpose}`, KEY_BYTES));
