import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';

const has = (program: string): boolean => {
  try {
    execFileSync('which', [program], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
};

/** Why this machine can't run real guests for a test, or undefined when it can. */
export function noGuestsBecause(): string | undefined {
  if (process.platform !== 'linux') return 'not a Linux machine';
  if (process.getuid?.() !== 0) return 'not root';
  if (!has('virsh') || !has('qemu-system-x86_64')) return 'QEMU and libvirt are not installed';
  return undefined;
}

/**
 * The browser for the tests. The headless shell is preferred: the full browser's headless mode sometimes stops drawing
 * for good, so that `requestAnimationFrame` never fires again and a test hangs (seen in 1 of 40 starts of Chromium 156
 * with software rendering).
 */
export const CHROMIUM = [
  '/usr/bin/chromium-headless-shell',
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
].find((path) => existsSync(path));

/** The command-line client of Kubernetes. */
export const KUBECTL = ['/usr/local/bin/kubectl', '/usr/bin/kubectl'].find((path) => existsSync(path));

const PEERS = join(import.meta.dirname, '../../../tools/peers/install.mjs');

/**
 * The Python interpreter that generates and runs clients; undefined unless `node tools/peers/install.mjs python-client`
 * has installed it.
 */
export const PYTHON_CLIENT = ((): string | undefined => {
  const { status, stdout } = spawnSync(process.execPath, [PEERS, '--find', 'python-client'], { encoding: 'utf8' });
  return status === 0 ? stdout.trim() : undefined;
})();

/** `describe`, or a skipped one whose title says why. */
export const describeIf = (why: string | undefined, title: string, suite: () => void): void => {
  if (why === undefined) describe(title, suite);
  else describe.skip(`${title} (skipped: ${why})`, suite);
};
