import { isIP } from 'node:net';
import { isJsonObject } from './parse-json.js';

/**
 * Whether a room's `m.room.server_acl` allows a server. Servers that it neither allows nor denies are denied.
 * @param content of the state event; undefined if the room has none, which allows all servers
 */
export function serverAclAllows(content: unknown, server: string): boolean {
  if (content === undefined) return true;
  const { allow, deny, allow_ip_literals: ipLiterals } = isJsonObject(content) ? content : {};
  const host = server.replace(/:[0-9]{1,5}$/, '').toLowerCase();
  const isLiteral = host.startsWith('[') || isIP(host) !== 0;
  if (isLiteral && ipLiterals === false) return false;
  return !matchesAny(deny, host) && matchesAny(allow, host);
}

const matchesAny = (globs: unknown, host: string): boolean =>
  Array.isArray(globs) && globs.some((glob) => typeof glob === 'string' && matches(glob.toLowerCase(), host));

/**
 * `*` matches any number of characters, `?` matches one. Backtracks to the last star only, so that no pattern is slow.
 */
function matches(glob: string, text: string): boolean {
  let [at, star, resume] = [0, -1, 0];
  for (let i = 0; i < text.length;) {
    if (glob[at] === '*') [star, resume] = [at++, i];
    else if (glob[at] === '?' || glob[at] === text[i]) [at, i] = [at + 1, i + 1];
    else if (star >= 0) [at, i] = [star + 1, ++resume];
    else return false;
  }
  return /^\**$/.test(glob.slice(at));
}
