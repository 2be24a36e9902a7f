import { randomBytes } from 'node:crypto';
import { decodeBase64, encodeBase64, SigningKey } from '@headgate/matrix-protocol';
import type { Database } from '../database.js';

/** The server's signing key, created at the first start and stored. */
export function serverSigningKey(db: Database): SigningKey {
  const stored = db.get<{ value: string }>("SELECT value FROM secrets WHERE name = 'signing_key'")?.value;
  const [id = '', seed] = (stored ?? '').split(' ');
  const bytes = decodeBase64(seed);
  if (stored !== undefined && bytes) return SigningKey.fromSeed(id, bytes);
  const key = SigningKey.generate(`ed25519:${randomBytes(3).toString('hex')}`);
  db.run("INSERT INTO secrets VALUES ('signing_key', ?)", `${key.id} ${encodeBase64(key.seed)}`);
  return key;
}
