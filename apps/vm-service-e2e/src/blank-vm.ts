import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { OperationRequest } from '@headgate/testing';

/** More than all buffers between the service and a client that does not read. */
const CONTENT_BYTES = 12 * 1024 ** 2;
export const DISK_BYTES = 16 * 1024 ** 2;
export const MEMORY = '64Mi';

/** Creates a small VM whose disk has content, but no system that boots. */
export const createRequest = (name: string, context = 'here'): OperationRequest => ({
  method: 'POST',
  path: '/api/vms',
  body: { name, namespace: 'local', context, image: 'tiny', cpu: 1, mem: MEMORY, disk: `${DISK_BYTES / 1024 ** 2}Mi` },
});

/** The image of the catalog entry `tiny`: random content, which can't be compressed. */
export async function createImage(folder: string): Promise<string> {
  const [content, image] = [join(folder, 'content'), join(folder, 'tiny.qcow2')];
  await writeFile(content, randomBytes(CONTENT_BYTES));
  await promisify(execFile)('qemu-img', ['convert', '-f', 'raw', '-O', 'qcow2', content, image]);
  await rm(content);
  return image;
}
