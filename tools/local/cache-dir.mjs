import { homedir } from 'node:os';
import { join } from 'node:path';

/**
 * Where what can be made again is kept: HEADGATE_CACHE_DIR, or the system's cache for root, or the user's own.
 * @param {{ env?: Record<string, string | undefined>, root?: boolean, home?: string }} [who]
 * @returns {string}
 */
export function cacheDir({ env = process.env, root = process.getuid?.() === 0, home = homedir() } = {}) {
  if (env['HEADGATE_CACHE_DIR']) return env['HEADGATE_CACHE_DIR'];
  if (root) return '/var/cache/headgate';
  return join(env['XDG_CACHE_HOME'] || join(home, '.cache'), 'headgate');
}
