import { createHash } from 'node:crypto';
import type { Readable } from 'node:stream';
import { closeWhenRead, DomainError, hashBlock, hashesOf, hashOfZeros } from '@headgate/domain-contracts';

/**
 * Compares both ends of a copy block by block; a disk that is larger than the other must have zeros there.
 * @returns the hash of all blocks
 * @throws DomainError BACKEND_FAILED at the first block that differs
 */
export async function compareDisks(
  source: AsyncIterable<string> | readonly string[],
  copy: AsyncIterable<string>,
  report: (block: number) => void,
): Promise<string> {
  const zeros = await hashOfZeros();
  const root = new RootHash(zeros);
  const [one, other] = [iterate(source), copy[Symbol.asyncIterator]()];
  try {
    for (let block = 0; ; block++) {
      const [left, right] = await Promise.all([one.next(), other.next()]);
      if (left.done && right.done) return root.digest();
      const [expected, found] = [left.done ? zeros : left.value, right.done ? zeros : right.value];
      if (expected !== found)
        throw new DomainError('BACKEND_FAILED', `The copy differs from the source in the block ${block} of 1 MiB.`);
      root.add(expected);
      report(block + 1);
    }
  } finally {
    await Promise.allSettled([one.return(undefined), other.return?.()]);
  }
}

async function* iterate(hashes: AsyncIterable<string> | readonly string[]): AsyncGenerator<string> {
  yield* hashes;
}

/** The same hash for a disk whose blocks have these hashes. */
export async function rootOf(hashes: readonly string[]): Promise<string> {
  const root = new RootHash(await hashOfZeros());
  for (const hash of hashes) root.add(hash);
  return root.digest();
}

/** How many blocks are hashed at the same time, in other threads. */
const MAX_PENDING_HASHES = 4;

/** The hashes of the blocks of a disk that is being copied. */
export class BlockHashes {
  private readonly hashes: string[] = [];
  private readonly pending: Promise<string>[] = [];

  /** Resolves when the next block can be taken. */
  async add(block: Buffer): Promise<void> {
    this.pending.push(hashBlock(block));
    if (this.pending.length >= MAX_PENDING_HASHES) await this.take();
  }

  async all(): Promise<string[]> {
    while (this.pending.length > 0) await this.take();
    return this.hashes;
  }

  private async take(): Promise<void> {
    const first = this.pending.shift();
    if (first) this.hashes.push(await first);
  }
}

/** The hash of the content of a disk, whatever zeros it has at its end. */
export async function rootHash(content: Readable): Promise<string> {
  const root = new RootHash(await hashOfZeros());
  for await (const hash of closeWhenRead(content, hashesOf)) root.add(hash);
  return root.digest();
}

class RootHash {
  private readonly hash = createHash('sha256');
  private pendingZeros = 0;

  constructor(private readonly zeros: string) {}

  add(block: string): void {
    if (block === this.zeros) return void this.pendingZeros++;
    for (; this.pendingZeros > 0; this.pendingZeros--) this.hash.update(this.zeros);
    this.hash.update(block);
  }

  digest(): string {
    return this.hash.digest('hex');
  }
}
