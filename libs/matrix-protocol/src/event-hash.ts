import { createHash } from 'node:crypto';
import { encodeBase64 } from './base64.js';
import { canonicalJson } from './canonical-json.js';
import type { JsonObject } from './parse-json.js';
import { redactEvent } from './redact-event.js';

const sha256 = (text: string): Buffer => createHash('sha256').update(text, 'utf8').digest();

/** The hash of a whole event, in unpadded base64: what `hashes.sha256` says when nobody has touched it. */
export function contentHash(event: JsonObject): string {
  const { unsigned: _unsigned, signatures: _signatures, hashes: _hashes, ...covered } = event;
  return encodeBase64(sha256(canonicalJson(covered)));
}

/** The id that an event's content gives it: `$` and the hash of its redacted form in URL-safe base64. */
export function eventIdOf(event: JsonObject): string {
  const { signatures: _signatures, unsigned: _unsigned, event_id: _id, ...covered } = redactEvent(event);
  return `$${sha256(canonicalJson(covered)).toString('base64url')}`;
}
