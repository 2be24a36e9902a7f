import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { processesWith } from './processes.js';

const run = promisify(execFile);

const virsh = async (...args: string[]): Promise<string> =>
  (await run('virsh', ['-c', 'qemu:///system', '--quiet', ...args], { env: { ...process.env, LC_ALL: 'C' } })).stdout;

/** Every domain, volume and process of this machine with the name. */
export async function leftoversOf(name: string): Promise<string[]> {
  const domains = (await virsh('list', '--all', '--name')).split('\n').filter((domain) => domain === name);
  // The pool lists its folder only after a refresh.
  await virsh('pool-refresh', 'headgate').catch(() => '');
  const volumes = await virsh('vol-list', 'headgate').catch(() => '');
  const disks = volumes.split('\n').filter((volume) => volume.includes(name));
  return [...domains, ...disks, ...processesWith(`guest=${name},`)];
}

/** Removes the leftovers of a failed test. */
export async function removeLeftovers(name: string): Promise<void> {
  await virsh('destroy', name).catch(() => undefined);
  await virsh('undefine', name, '--nvram').catch(() => virsh('undefine', name).catch(() => undefined));
  const volumes = await virsh('vol-list', 'headgate').catch(() => '');
  for (const line of volumes.split('\n').filter((volume) => volume.includes(name))) {
    await virsh('vol-delete', line.trim().split(/\s+/)[0] ?? '', 'headgate').catch(() => undefined);
  }
}
