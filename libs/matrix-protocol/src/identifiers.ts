const MAX_ID_BYTES = 255;

/** Matrix measures identifiers in UTF-8 bytes; a JavaScript length counts UTF-16 units. */
export const utf8Length = (text: string): number => Buffer.byteLength(text, 'utf8');

const DNS = String.raw`[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?\.?`;
const IPV6 = String.raw`\[[0-9A-Fa-f:.]{2,45}\]`;
const SERVER_NAME = new RegExp(`^(?:${DNS}|${IPV6})(?::[0-9]{1,5})?$`);

/** A host (DNS name, IPv4 or bracketed IPv6) with an optional port. */
export const isServerName = (text: unknown): text is string =>
  typeof text === 'string' && text.length <= MAX_ID_BYTES && SERVER_NAME.test(text);

/** White space, control characters and lone surrogates, which no ID may contain. */
const UNPRINTABLE = /[\s\p{Cc}\p{Cs}]/u;

const fitsAnId = (text: string): boolean => utf8Length(text) <= MAX_ID_BYTES && !UNPRINTABLE.test(text);

export interface UserId {
  localpart: string;
  server: string;
}

/**
 * Parses `@localpart:server`; undefined if it is not a user ID. Historical localparts may contain any printable
 * character.
 */
export function parseUserId(text: unknown): UserId | undefined {
  if (typeof text !== 'string' || !text.startsWith('@') || !fitsAnId(text)) return undefined;
  const colon = text.indexOf(':');
  if (colon < 2) return undefined;
  const server = text.slice(colon + 1);
  return isServerName(server) ? { localpart: text.slice(1, colon), server } : undefined;
}

/** Whether a new account may have this localpart. */
export const isLocalpart = (text: unknown): text is string =>
  typeof text === 'string' && /^[a-z0-9._=\-/+]{1,255}$/.test(text);

/** `!opaque:server`, or `!hash` without a server in newer room versions. */
export function isRoomId(text: unknown): text is string {
  if (typeof text !== 'string' || !/^![^:]/.test(text) || !fitsAnId(text)) return false;
  const colon = text.indexOf(':');
  return colon < 0 || isServerName(text.slice(colon + 1));
}

/** `$` followed by an opaque text, which depends on the room version. */
export const isEventId = (text: unknown): text is string =>
  typeof text === 'string' && /^\$./.test(text) && fitsAnId(text);

/** `#name:server`; the name may contain spaces. */
export function isRoomAlias(text: unknown): text is string {
  if (typeof text !== 'string' || !text.startsWith('#') || !fitsAnId(text.replaceAll(' ', ''))) return false;
  if (utf8Length(text) > MAX_ID_BYTES) return false;
  const colon = text.indexOf(':');
  return colon > 1 && isServerName(text.slice(colon + 1));
}

/** `0-9 A-Z a-z - . _ ~`, 1 to 255 characters. */
export const isOpaqueId = (text: unknown): text is string =>
  typeof text === 'string' && /^[0-9A-Za-z\-._~]{1,255}$/.test(text);

export const isMediaId = (text: unknown): text is string =>
  typeof text === 'string' && /^[A-Za-z0-9_-]{1,255}$/.test(text);
