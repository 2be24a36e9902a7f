import type { BoundedOperation } from '../bounded-operations.js';
import { decodeBytes, mergeSlashes } from './uri.js';

const V = '(?:api/v1|r0|v3|unstable)';

/** Bounded operations of a server that matches a path against patterns, two of them open-ended. */
const PATTERNS: readonly (readonly [BoundedOperation, method: string, RegExp])[] = [
  ['login', 'POST', new RegExp(`^/_matrix/client/${V}/login$`)],
  ['register', 'POST', new RegExp(`^/_matrix/client/${V}/register$`)],
  ['upload', 'POST', /^\/_matrix\/media\/v3\/upload$/],
  ['send', 'PUT', new RegExp(`^/_matrix/client/${V}/rooms/([^/]*)/send/([^/]*)/([^/]*)$`)],
  ['send', 'POST', new RegExp(`^/_matrix/client/${V}/rooms/([^/]*)/send/([^/]*)$`)],
  [
    'scheduleDelayed',
    'POST',
    /^\/_matrix\/client\/unstable\/org.matrix.msc4140\/rooms\/([^/]*)\/delayed_event\/([^/]*)$/,
  ],
  ['openIdToken', 'POST', new RegExp(`^/_matrix/client/${V}/user/([^/]*)/openid/request_token`)],
  ['setRoomAccountData', 'PUT', new RegExp(`^/_matrix/client/${V}/user/([^/]*)/rooms/([^/]*)/account_data/([^/]*)`)],
  ['uploadTo', 'PUT', /^\/_matrix\/media\/v3\/upload\/([^/]*)\/([^/]*)$/],
  ['sendTransaction', 'PUT', /^\/_matrix\/federation\/v1\/send\/([^/]*)\/?$/],
];

/** How a homeserver reads a target before it matches the path. */
export const SERVERS: Readonly<Record<string, (path: string) => string | undefined>> = {
  'Twisted, which matches the raw path': (path) => path,
  'gorilla, which matches the escaped path as it is': (path) => path,
  'a server that decodes the path': (path) => decodeBytes(path),
  'a server that decodes the path and merges slashes': (path) => {
    const decoded = decodeBytes(path);
    return decoded === undefined ? undefined : mergeSlashes(decoded);
  },
  'a server that drops slashes at the end': (path) => path.replace(/\/+$/, ''),
};

/** The operation that a server finds in the target that it receives, and the type of the event. */
export function operationAt(
  read: (path: string) => string | undefined,
  method: string,
  target: string,
): { operation: BoundedOperation; eventType: string | undefined } | undefined {
  const path = read(target.split('?', 1)[0] ?? '');
  if (path === undefined) return undefined;
  for (const [operation, taken, pattern] of PATTERNS) {
    const found = taken === method ? pattern.exec(path) : null;
    if (found) return { operation, eventType: operation === 'send' ? decodeBytes(found[2] ?? '') : undefined };
  }
  return undefined;
}
