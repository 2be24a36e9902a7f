import { execFile } from 'node:child_process';
import { readdir, readFile, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { processesWith } from './processes.js';

const run = promisify(execFile);

/** Calls virsh on this machine's libvirt. @throws Error with what it printed */
export const virsh = async (...args: string[]): Promise<string> =>
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

/**
 * Removes the leftovers of a failed test, and guests that a test leaves running. libvirt has to run, so this comes
 * before the end of a service that has started it.
 */
export async function removeLeftovers(name: string): Promise<void> {
  await virsh('destroy', name).catch(() => undefined);
  await virsh('undefine', name, '--nvram', '--checkpoints-metadata').catch(() =>
    virsh('undefine', name).catch(() => undefined),
  );
  const volumes = await virsh('vol-list', 'headgate').catch(() => '');
  for (const line of volumes.split('\n').filter((volume) => volume.includes(name))) {
    await virsh('vol-delete', line.trim().split(/\s+/)[0] ?? '', 'headgate').catch(() => undefined);
  }
}

/** The pool of a system connection. */
const POOL_FOLDER = '/var/lib/libvirt/images/headgate';

/**
 * Removes the images that a service has cached, which would wait in the pool for its next start. libvirt may have
 * stopped.
 */
export async function removeBaseImages(dataDir: string): Promise<void> {
  const files = await readdir(dataDir, { recursive: true }).catch(() => []);
  for (const file of files.filter((name) => basename(name) === 'service-id')) {
    const service = await readFile(join(dataDir, file), 'utf8').catch(() => '');
    const volumes = service === '' ? [] : await readdir(POOL_FOLDER).catch(() => []);
    const cached = volumes.filter((name) => name.startsWith(`base-${service.slice(0, 8)}-`));
    await Promise.all(cached.map((name) => rm(join(POOL_FOLDER, name), { force: true })));
  }
}
