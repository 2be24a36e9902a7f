import { contentHash } from './event-hash.js';
import { isJsonObject, type JsonObject } from './parse-json.js';
import { redactEvent } from './redact-event.js';
import { signJson, verifySignedJson } from './signed-json.js';
import type { SigningKey } from './signing-key.js';

/** A copy of the event with its hash and one more signature by `server`. */
export function signEvent<T extends JsonObject>(event: T, server: string, key: SigningKey) {
  const hashed = { ...event, hashes: { sha256: contentHash(event) } };
  return { ...hashed, signatures: signJson(redactEvent(hashed), server, key).signatures };
}

/** Whether `server` signed the event with this key. It covers what a redaction leaves, and through the hash the rest. */
export const verifySignedEvent = (event: JsonObject, server: string, keyId: string, publicKey: unknown): boolean =>
  verifySignedJson(redactEvent(event), server, keyId, publicKey);

/**
 * The event as it may be used once its signature is good: whole when its hash says that nobody has touched it, else
 * only what the signature covers.
 */
export function redactIfModified(event: JsonObject): JsonObject {
  const claimed = isJsonObject(event.hashes) ? event.hashes.sha256 : undefined;
  return claimed === contentHash(event) ? event : redactEvent(event);
}
