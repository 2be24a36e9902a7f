import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';

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
 * The browser for the tests. The headless shell is preferred: the full browser's headless mode sometimes stops drawing for good, so that
 * `requestAnimationFrame` never fires again and a test hangs (seen in 1 of 40 starts of Chromium 156 with software rendering).
 */
export const CHROMIUM = [
  '/usr/bin/chromium-headless-shell',
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
].find((path) => existsSync(path));

/** The command-line client of Kubernetes. */
export const KUBECTL = ['/usr/local/bin/kubectl', '/usr/bin/kubectl'].find((path) => existsSync(path));

/** `describe`, or a skipped one whose title says why. */
export const describeIf = (why: string | undefined, title: string, suite: () => void): void => {
  if (why === undefined) describe(title, suite);
  else describe.skip(`${title} (skipped: ${why})`, suite);
};
