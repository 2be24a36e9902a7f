import { isServerName } from './identifiers.js';
import { isJsonObject, type JsonObject } from './parse-json.js';
import { verifySignedJson } from './signed-json.js';
import { isKeyId } from './signing-key.js';

/** Keys are fetched again after seven days at the latest, whatever validity the peer claims. */
export const MAX_KEY_VALIDITY_MS = 7 * 24 * 60 * 60 * 1000;

export interface OldKey {
  /** In unpadded base64. */
  key: string;
  expiredAt: number;
}

/** A peer's published keys after validation. */
export interface ServerKeyDocument {
  server: string;
  /** The keys that may sign requests now: key ID to public key in unpadded base64. */
  verifyKeys: ReadonlyMap<string, string>;
  /** Former keys, which are valid for events sent before they expired (Unix time in ms). */
  oldVerifyKeys: ReadonlyMap<string, OldKey>;
  /** Unix time in ms: the peer's own claim or seven days after the fetch, whichever is sooner. */
  validUntil: number;
  fetchedAt: number;
  /** As published, for answering other servers' queries. */
  raw: JsonObject;
}

export class InvalidKeyDocument extends Error {
  override name = 'InvalidKeyDocument';
}

/**
 * Validates a document that `askedServer` returned for `/_matrix/key/v2/server`.
 * @throws InvalidKeyDocument when it names another server, a key has not signed it, or it has expired
 */
export function readServerKeyDocument(raw: unknown, askedServer: string, now: number): ServerKeyDocument {
  if (!isJsonObject(raw) || raw.server_name !== askedServer || !isServerName(raw.server_name)) {
    throw new InvalidKeyDocument(`the document is not from ${askedServer}`);
  }
  const claimed = raw.valid_until_ts;
  if (typeof claimed !== 'number' || !Number.isSafeInteger(claimed)) {
    throw new InvalidKeyDocument('valid_until_ts is not an integer');
  }
  if (claimed <= now) throw new InvalidKeyDocument('the document has expired');
  return {
    server: askedServer,
    verifyKeys: signedKeys(raw, askedServer),
    oldVerifyKeys: oldKeys(raw),
    validUntil: Math.min(claimed, now + MAX_KEY_VALIDITY_MS),
    fetchedAt: now,
    raw,
  };
}

// The specification requires every listed key to sign the document, which proves that the server has it.
function signedKeys(raw: JsonObject, server: string): ReadonlyMap<string, string> {
  const listed = isJsonObject(raw.verify_keys) ? Object.entries(raw.verify_keys) : [];
  const keys = new Map<string, string>();
  for (const [id, entry] of listed) {
    if (!isKeyId(id) || !isJsonObject(entry) || typeof entry.key !== 'string') continue;
    if (!verifySignedJson(raw, server, id, entry.key)) {
      throw new InvalidKeyDocument(`${id} has not signed the document`);
    }
    keys.set(id, entry.key);
  }
  if (keys.size === 0) throw new InvalidKeyDocument('the document lists no Ed25519 key');
  return keys;
}

function oldKeys({ old_verify_keys: listed }: JsonObject): ReadonlyMap<string, OldKey> {
  const keys = new Map<string, OldKey>();
  for (const [id, entry] of Object.entries(isJsonObject(listed) ? listed : {})) {
    if (!isKeyId(id) || !isJsonObject(entry) || typeof entry.key !== 'string') continue;
    if (typeof entry.expired_ts === 'number') keys.set(id, { key: entry.key, expiredAt: entry.expired_ts });
  }
  return keys;
}

/** The key that may have signed an event at a time (Unix time in ms). Old keys are not valid for requests. */
export function keyForEvent(document: ServerKeyDocument, keyId: string, sentAt: number): string | undefined {
  const current = document.verifyKeys.get(keyId);
  if (current !== undefined) return sentAt <= document.validUntil ? current : undefined;
  const old = document.oldVerifyKeys.get(keyId);
  return old && sentAt <= old.expiredAt ? old.key : undefined;
}
