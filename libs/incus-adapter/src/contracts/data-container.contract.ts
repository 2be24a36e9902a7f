import type { InstanceRef } from '@headgate/domain-contracts';
import { TINY_ALIAS } from '@headgate/testing';
import type { IncusHarness } from './incus-harness.contract.js';

const MIB = 1024 ** 2;

/** A container of this service that runs, with a data volume. */
export async function dataContainer(harness: IncusHarness, name?: string): Promise<InstanceRef> {
  const ref = name === undefined ? harness.freshRef() : { ...harness.freshRef(), name };
  await harness.backend.require('containers').create({
    ref,
    image: TINY_ALIAS,
    cpu: 1,
    memoryBytes: 256 * MIB,
    diskBytes: 64 * MIB,
    storageClass: '',
    privileged: false,
  });
  return ref;
}

/** Writes the text to a file of the root, and to one of the data volume. */
export async function write({ daemon }: IncusHarness, { name }: InstanceRef, text: string): Promise<void> {
  await daemon.run('exec', name, '--', 'sh', '-c', `echo ${text} > /root/file; echo ${text} > /data/file; sync`);
}

/** The texts of both files, with the user and the group that own that on the data volume. */
export async function read({ daemon }: IncusHarness, { name }: InstanceRef): Promise<string> {
  const script = 'cat /root/file /data/file; stat -c %u:%g /data/file';
  return (await daemon.run('exec', name, '--', 'sh', '-c', script)).trim().replaceAll('\n', ' ');
}

/** The lines of a listing of the server, such as the names of its volumes. */
export const linesOf = async ({ daemon }: IncusHarness, ...args: string[]): Promise<string[]> =>
  (await daemon.run(...args, '--format', 'csv')).split('\n').filter((line) => line !== '');
