/** The unit in which the content of disks is compared. */
export const DISK_BLOCK_BYTES = 1024 ** 2;
/** Runs of zeros of at least this size are not transferred. */
export const ZERO_RUN_BYTES = 64 * 1024;

const ZEROS = new Uint8Array(DISK_BLOCK_BYTES);

/** Whether a part of a disk of at most `DISK_BLOCK_BYTES` has no other bytes. */
export const isZero = (data: Buffer): boolean => data.equals(ZEROS.subarray(0, data.length));

let zeroHash: Promise<string> | undefined;

/** The hash of a block of zeros: that of every block behind the end of a disk. */
export const hashOfZeros = (): Promise<string> => (zeroHash ??= digest(ZEROS));

/**
 * The hash of a block of a disk. A shorter block, the last one of a disk, has the hash of the block that zeros
 * complete, so that disks of different sizes can be compared.
 */
export function hashBlock(block: Buffer): Promise<string> {
  if (isZero(block)) return hashOfZeros();
  if (block.length === DISK_BLOCK_BYTES) return digest(block);
  return digest(Buffer.concat([block, ZEROS.subarray(block.length)]));
}

/** In a thread of its own, unlike `createHash`, so that the next block is read meanwhile. */
const digest = async (block: Uint8Array): Promise<string> =>
  Buffer.from(await crypto.subtle.digest('SHA-256', block as Uint8Array<ArrayBuffer>)).toString('base64');

/**
 * The blocks of a disk, whatever the size of the parts in which its content arrives. Only the last one may be shorter.
 */
export async function* blocksOf(content: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let parts: Buffer[] = [];
  let length = 0;
  for await (let part of content) {
    while (length + part.length >= DISK_BLOCK_BYTES) {
      const taken = part.subarray(0, DISK_BLOCK_BYTES - length);
      yield parts.length === 0 ? taken : Buffer.concat([...parts, taken]);
      part = part.subarray(taken.length);
      parts = [];
      length = 0;
    }
    if (part.length > 0) parts.push(part);
    length += part.length;
  }
  if (length > 0) yield Buffer.concat(parts);
}

/** How many blocks are hashed at the same time. */
const MAX_HASHES = 4;

/** The hashes of all blocks of a disk, in their order. */
export async function* hashesOf(content: AsyncIterable<Buffer>): AsyncGenerator<string> {
  const pending: Promise<string>[] = [];
  for await (const block of blocksOf(content)) {
    pending.push(hashBlock(block));
    if (pending.length >= MAX_HASHES) yield await (pending.shift() as Promise<string>);
  }
  for (const hash of pending) yield await hash;
}

/** The parts of a block that are not zeros, with their offsets in the block. */
export function* dataRuns(block: Buffer): Generator<{ readonly offset: number; readonly data: Buffer }> {
  if (isZero(block)) return;
  let start = -1;
  for (let at = 0; at < block.length; at += ZERO_RUN_BYTES) {
    const isHole = isZero(block.subarray(at, at + ZERO_RUN_BYTES));
    if (isHole && start >= 0) yield { offset: start, data: block.subarray(start, at) };
    if (isHole) start = -1;
    else if (start < 0) start = at;
  }
  if (start >= 0) yield { offset: start, data: block.subarray(start) };
}
