import { homedir } from 'node:os';
import { join } from 'node:path';

/**
 * The folder for reproducible files: HEADGATE_CACHE_DIR, or the system cache for root, or else the user's cache.
 * @param {{ env?: Record<string, string | undefined>, root?: boolean, home?: string }} [options]
 * @returns {string}
 */
export function cacheDir({ env = process.env, root = process.getuid?.() === 0, home = homedir() } = {}) {
  if (env['HEADGATE_CACHE_DIR']) return env['HEADGATE_CACHE_DIR'];
  if (root) return '/var/cache/headgate';
  return join(env['XDG_CACHE_HOME'] || join(home, '.cache'), 'headgate');
}
