import { isIP } from 'node:net';
import { isJsonObject } from './parse-json.js';

/**
 * Whether a room's `m.room.server_acl` lets a server in. What is neither allowed nor denied is denied.
 * @param content of the state event; undefined: the room has none, and lets everybody in
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

/** `*` is any number of characters, `?` is one. Goes back to the last star only, so that no pattern takes long. */
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
