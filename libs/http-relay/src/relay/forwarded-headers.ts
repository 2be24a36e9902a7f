/** Headers that belong to one connection, not to the message (RFC 9110, 7.6.1). */
export const HOP_BY_HOP: ReadonlySet<string> = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/**
 * Headers that a `Connection` header cannot remove: without its length, the upstream would read a body as the next
 * request, which nothing has checked.
 */
export const NOT_REMOVABLE: ReadonlySet<string> = new Set(['content-length', 'host']);

/** Headers of requests of a trusted peer that are not forwarded as received. */
export const REPLACED = ['x-forwarded-for', 'expect'];
/** The same of any other peer: what it claims about the way of a request is dropped. */
export const REPLACED_OR_UNTRUSTED = [...REPLACED, 'forwarded', 'x-real-ip', 'x-forwarded-proto', 'x-forwarded-host'];
