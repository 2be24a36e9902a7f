import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { processesWith } from './processes.js';

const run = promisify(execFile);

const virsh = async (...args: string[]): Promise<string> =>
  (await run('virsh', ['-c', 'qemu:///system', '--quiet', ...args], { env: { ...process.env, LC_ALL: 'C' } })).stdout;

/** Every domain, volume and process of this machine that carries the name. */
export async function leftoversOf(name: string): Promise<string[]> {
  const domains = (await virsh('list', '--all', '--name')).split('\n').filter((domain) => domain === name);
  // The pool knows what is in its folder only after it looked again.
  await virsh('pool-refresh', 'headgate').catch(() => '');
  const volumes = await virsh('vol-list', 'headgate').catch(() => '');
  const disks = volumes.split('\n').filter((volume) => volume.includes(name));
  return [...domains, ...disks, ...processesWith(`guest=${name},`)];
}

/** Removes what a test that failed left behind. */
export async function removeLeftovers(name: string): Promise<void> {
  await virsh('destroy', name).catch(() => undefined);
  await virsh('undefine', name, '--nvram').catch(() => virsh('undefine', name).catch(() => undefined));
  const volumes = await virsh('vol-list', 'headgate').catch(() => '');
  for (const line of volumes.split('\n').filter((volume) => volume.includes(name))) {
    await virsh('vol-delete', line.trim().split(/\s+/)[0] ?? '', 'headgate').catch(() => undefined);
  }
}
