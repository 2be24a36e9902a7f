import { execFile } from 'node:child_process';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

/** How many of the last records the guest keeps. */
export const RECORD_RING = 8;

const SECTOR_BYTES = 512;
const MIB = 1024 ** 2;
const ZEROS = Buffer.alloc(MIB);
/** The second partition in the table of a disk: the offset of its first sector. */
const ROOT_START_OFFSET = 446 + 16 + 8;
const MAX_OUTPUT_BYTES = 16 * MIB;
/** e2fsck: the errors were corrected. Without the journal, there were none. */
const CORRECTED = 1;

const run = promisify(execFile);

/** The records in the file system of a restored disk. */
export interface StoredRecords {
  /** The numbers in the list, in its order. */
  readonly listed: readonly number[];
  /** The numbers of the records whose files are complete. */
  readonly complete: readonly number[];
}

/**
 * Reads the records as the guest would find them at its next start, after the journal of its file system was replayed.
 * @throws Error if its file system needs more than its journal
 */
export async function readRecords(content: AsyncIterable<Buffer>, folder: string): Promise<StoredRecords> {
  const disk = join(folder, 'disk.raw');
  const start = await writeDisk(content, disk);
  const root = join(folder, 'root.ext4');
  await run('dd', [
    `if=${disk}`,
    `of=${root}`,
    'bs=1M',
    `skip=${start}`,
    'iflag=skip_bytes',
    'conv=sparse',
    'status=none',
  ]);
  await run('e2fsck', ['-f', '-p', root]).catch((error: { code?: number; stdout?: string }) => {
    if (error.code !== CORRECTED) throw new Error(`The file system is damaged: ${error.stdout}`, { cause: error });
  });
  // Nothing is left to correct.
  await run('e2fsck', ['-f', '-n', root]);
  const listed = (await fileOf(root, '/records')).toString('latin1').split('\n');
  const expected = await fileOf(root, '/content');
  const complete: number[] = [];
  for (let slot = 0; slot < RECORD_RING; slot++) {
    const file = await fileOf(root, `/ring.${slot}`);
    const end = file.indexOf('\n') + 1;
    if (end > 0 && file.subarray(end).equals(expected)) complete.push(Number(file.subarray(0, end - 1)));
  }
  return { listed: listed.slice(0, -1).map(Number), complete: complete.sort((a, b) => a - b) };
}

/** @returns where the root partition begins */
async function writeDisk(content: AsyncIterable<Buffer>, path: string): Promise<number> {
  const file = await open(path, 'w');
  try {
    let [at, start] = [0, 0];
    for await (const part of content) {
      if (at === 0) start = part.readUInt32LE(ROOT_START_OFFSET) * SECTOR_BYTES;
      if (ZEROS.compare(part, 0, part.length, 0, part.length) !== 0) await file.write(part, 0, part.length, at);
      at += part.length;
    }
    await file.truncate(at);
    return start;
  } finally {
    await file.close();
  }
}

async function fileOf(fileSystem: string, path: string): Promise<Buffer> {
  const { stdout } = await run('debugfs', ['-R', `cat ${path}`, fileSystem], {
    encoding: 'buffer',
    maxBuffer: MAX_OUTPUT_BYTES,
  });
  return stdout;
}
