import { chmodSync, chownSync, readFileSync, statSync } from 'node:fs';

const DEVICE = '/dev/kvm';

/**
 * Gives `/dev/kvm` to the group `kvm`, as udev does on a machine that runs it. Where nothing does, the device is root's
 * alone: libvirtd, which finds KVM as root, then sees that its guests' user has none, holds what it knows about QEMU to
 * be stale and starts QEMU anew to ask it about thirty times for each guest (60 s instead of 0.4 s were measured).
 * @param {(line: string) => void} log
 */
export function shareKvm(log) {
  try {
    const group = groupId(readFileSync('/etc/group', 'utf8'), 'kvm');
    const { uid, gid, mode } = statSync(DEVICE);
    const isRootsAlone = uid === 0 && gid === 0 && (mode & 0o077) === 0;
    if (group === undefined || !isRootsAlone) return;
    chownSync(DEVICE, 0, group);
    chmodSync(DEVICE, 0o660);
    log(`${DEVICE} now belongs to the group kvm, as udev would have it.`);
  } catch (error) {
    if (/** @type {NodeJS.ErrnoException} */ (error).code !== 'ENOENT') log(`${DEVICE} was left as it is: ${error}`);
  }
}

/**
 * The id of a group in the text of /etc/group.
 * @param {string} text
 * @param {string} name
 * @returns {number | undefined}
 */
export function groupId(text, name) {
  const line = text.split('\n').find((entry) => entry.startsWith(`${name}:`));
  return line === undefined ? undefined : Number(line.split(':')[2]);
}
