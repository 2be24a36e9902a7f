import type { BoundedOperation } from '../bounded-operations.js';
import { decodeBytes, decodeEscapes, escapeAsGo, isValidInGo, mergeSlashes } from './uri.js';

const V = '(?:api/v1|r0|v3|unstable)';

type Patterns = readonly (readonly [BoundedOperation, method: string, RegExp])[];

/** Bounded operations of a server that matches a path against patterns, two of them open-ended. */
const PATTERNS: Patterns = [
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

const OF_DENDRITE = '(?:r0|v3)';

/** Those of Dendrite among them. */
const PATTERNS_OF_DENDRITE: Patterns = [
  ['login', 'POST', new RegExp(`^/_matrix/client/${OF_DENDRITE}/login$`)],
  ['register', 'POST', new RegExp(`^/_matrix/client/${OF_DENDRITE}/register$`)],
  ['upload', 'POST', /^\/_matrix\/media\/(?:r0|v1|v3)\/upload$/],
  ['send', 'PUT', new RegExp(`^/_matrix/client/${OF_DENDRITE}/rooms/([^/]+)/send/([^/]+)/([^/]+)$`)],
  ['send', 'POST', new RegExp(`^/_matrix/client/${OF_DENDRITE}/rooms/([^/]+)/send/([^/]+)$`)],
  ['openIdToken', 'POST', new RegExp(`^/_matrix/client/${OF_DENDRITE}/user/([^/]+)/openid/request_token$`)],
  [
    'setRoomAccountData',
    'PUT',
    new RegExp(`^/_matrix/client/${OF_DENDRITE}/user/([^/]+)/rooms/([^/]+)/account_data/([^/]+)$`),
  ],
  ['sendTransaction', 'PUT', /^\/_matrix\/federation\/v1\/send\/([^/]+)$/],
];

/** A homeserver: how it reads a path, and what it matches then. */
export interface Server {
  /** The path that is matched; undefined for a target that is refused. @param query with its question mark */
  readonly read: (path: string, query: string) => string | undefined;
  readonly patterns: Patterns;
}

const matching = (read: Server['read']): Server => ({ read, patterns: PATTERNS });

/** Go escapes a path again, with its slashes decoded, when it has a character that should have been escaped. */
function escapedInGo(path: string, query: string): string | undefined {
  const decoded = decodeEscapes(path);
  if (decoded === undefined || /[\0-\x1f\x7f]/.test(path + query)) return undefined;
  return isValidInGo(path) ? path : escapeAsGo(decoded);
}

export const DENDRITE: Server = { read: escapedInGo, patterns: PATTERNS_OF_DENDRITE };

export const SERVERS: Readonly<Record<string, Server>> = {
  'Twisted, which matches the raw path': matching((path) => path),
  'a server in Go, which matches the escaped path': matching(escapedInGo),
  'Dendrite, with gorilla': DENDRITE,
  'a server that decodes the path': matching(decodeBytes),
  'a server that decodes the path and merges slashes': matching((path) => {
    const decoded = decodeBytes(path);
    return decoded === undefined ? undefined : mergeSlashes(decoded);
  }),
  'a server that drops slashes at the end': matching((path) => path.replace(/\/+$/, '')),
};

/** The operation that a server finds in the target that it receives, and the type of the event. */
export function operationAt(
  { read, patterns }: Server,
  method: string,
  target: string,
): { operation: BoundedOperation; eventType: string | undefined } | undefined {
  const [before = ''] = target.split('?', 1);
  const path = read(before, target.slice(before.length));
  if (path === undefined) return undefined;
  for (const [operation, taken, pattern] of patterns) {
    const found = taken === method ? pattern.exec(path) : null;
    if (found) return { operation, eventType: operation === 'send' ? decodeBytes(found[2] ?? '') : undefined };
  }
  return undefined;
}
