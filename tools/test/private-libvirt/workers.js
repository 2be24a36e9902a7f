import { execFileSync } from 'node:child_process';
import { join } from 'node:path';

const PROGRAMS = ['libvirtd', 'virtlogd', 'ip'];

/** Whether workers of Jest can have a libvirt of their own: this takes root, its daemons and namespaces. */
export function canIsolateWorkers() {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return false;
  try {
    const script = PROGRAMS.map((name) => `command -v ${name}`).join(' && ');
    const probe = ['--mount', '--net', '--pid', '--fork', '--mount-proc', 'sh', '-c', script];
    execFileSync('unshare', probe, { stdio: 'ignore', timeout: 10_000 });
    return true;
  } catch {
    return false;
  }
}

/**
 * Settings of Jest for tests that need libvirt: as many workers as given, each with a libvirt of its own. Where that is
 * not possible, one test file after the other uses the libvirt of this machine.
 * @param {number} maxWorkers
 */
export function privateLibvirt(maxWorkers) {
  if (!canIsolateWorkers()) return { maxWorkers: 1 };
  return {
    maxWorkers,
    globalSetup: join(import.meta.dirname, 'setup.mjs'),
    globalTeardown: join(import.meta.dirname, 'teardown.mjs'),
  };
}
