import { execFileSync } from 'node:child_process';

const PROGRAMS = ['libvirtd', 'virsh', 'qemu-system-x86_64', 'qemu-nbd', 'unshare', 'setpriv', 'e2fsck', 'debugfs'];

/** Why this machine can't run guests in a libvirt of their own; undefined if it can. */
export function whyNoGuests(): string | undefined {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return 'it needs root on Linux';
  for (const program of PROGRAMS) {
    try {
      execFileSync('sh', ['-c', 'command -v "$0"', program], { stdio: 'ignore' });
    } catch {
      return `${program} is not installed`;
    }
  }
  return undefined;
}
