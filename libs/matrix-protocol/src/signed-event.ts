import { createHash } from 'node:crypto';
import { encodeBase64 } from './base64.js';
import { canonicalJson } from './canonical-json.js';
import { isJsonObject, type JsonObject } from './parse-json.js';
import { redactEvent } from './redact-event.js';
import { signJson, verifySignedJson } from './signed-json.js';
import type { SigningKey } from './signing-key.js';

const sha256 = (text: string): Buffer => createHash('sha256').update(text, 'utf8').digest();

/** The hash of a complete event in unpadded base64, which `hashes.sha256` must contain. */
export function contentHash(event: JsonObject): string {
  const { unsigned: _unsigned, signatures: _signatures, hashes: _hashes, ...covered } = event;
  return encodeBase64(sha256(canonicalJson(covered)));
}

/** The ID of an event: `$` and the hash of its redacted form in URL-safe base64. */
export function eventIdOf(event: JsonObject): string {
  const { signatures: _signatures, unsigned: _unsigned, event_id: _id, ...covered } = redactEvent(event);
  return `$${sha256(canonicalJson(covered)).toString('base64url')}`;
}

/** A copy of the event with its hash and one more signature by `server`. */
export function signEvent<T extends JsonObject>(event: T, server: string, key: SigningKey) {
  const hashed = { ...event, hashes: { sha256: contentHash(event) } };
  return { ...hashed, signatures: signJson(redactEvent(hashed), server, key).signatures };
}

/**
 * Whether `server` signed the event with this key. The signature covers the redacted event, and the rest through its
 * hash.
 */
export const verifySignedEvent = (event: JsonObject, server: string, keyId: string, publicKey: unknown): boolean =>
  verifySignedJson(redactEvent(event), server, keyId, publicKey);

/**
 * The part of a correctly signed event that can be trusted: all of it if its hash matches, otherwise its redacted form.
 */
export function redactIfModified(event: JsonObject): JsonObject {
  const claimed = isJsonObject(event.hashes) ? event.hashes.sha256 : undefined;
  return claimed === contentHash(event) ? event : redactEvent(event);
}
