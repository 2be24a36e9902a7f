import { createCipheriv, createHash } from 'node:crypto';
import type { BackupInput, CreateOptions, FileInput } from '../model/types.js';
import { ResticRepository } from '../repository.js';
import type { RepositoryTarget } from '../target/repository-target.js';
import { ManualClock } from './manual-clock.js';
import { MemoryTarget } from './memory-target.js';

export const PASSWORD = 'correct horse';
export const MIB = 1 << 20;
/** The least cost that scrypt allows. */
export const CHEAP: NonNullable<CreateOptions['scrypt']> = { n: 2, r: 1, p: 1 };

export async function createSample(target: RepositoryTarget = new MemoryTarget(), clock = new ManualClock()) {
  const repository = await ResticRepository.create(target, PASSWORD, { clock, scrypt: CHEAP, hostname: 'node-a' });
  return { target, clock, repository };
}

export const reopen = (target: RepositoryTarget, clock = new ManualClock()): Promise<ResticRepository> =>
  ResticRepository.open(target, PASSWORD, { clock, hostname: 'node-a' });

export const backupInput = (values: Partial<BackupInput> = {}): BackupInput => ({
  hostname: 'node-a',
  paths: ['/vm/web'],
  tags: ['headgate'],
  time: new Date('2026-03-01T12:00:00Z'),
  ...values,
});

/** Bytes that do not compress and are the same for the same seed. */
export function noise(seed: string, length: number): Buffer {
  const key = createHash('sha256').update(seed).digest();
  return createCipheriv('aes-256-ctr', key, Buffer.alloc(16)).update(Buffer.alloc(length));
}

export const fromBytes = (bytes: Uint8Array, more: Partial<FileInput> = {}): FileInput => ({
  size: bytes.length,
  read: (offset, length) => Promise.resolve(bytes.subarray(offset, offset + length)),
  ...more,
});

/** One snapshot with the given files. */
export async function backUp(
  repository: ResticRepository,
  files: Readonly<Record<string, Uint8Array>>,
  input: Partial<BackupInput> = {},
): Promise<string> {
  const report = await repository.backup(backupInput(input), async (writer) => {
    for (const [path, bytes] of Object.entries(files)) await writer.file(path, fromBytes(bytes));
  });
  return report.id;
}

export async function readFile(repository: ResticRepository, snapshotId: string, path: string): Promise<Buffer> {
  const file = await repository.openFile(snapshotId, path);
  const parts: Uint8Array[] = [];
  for await (const block of file.blocks()) parts.push(await block.bytes());
  return Buffer.concat(parts);
}
