import { DISK_BLOCK_BYTES, type DiskExtent } from '@headgate/domain-contracts';

const HASH_BYTES = 32;
/** Hashes of larger disks are kept in memory only, because a journal is written again with each step. */
const MAX_JOURNALED_BLOCKS = 16 * 1024;

/** One disk of a warm move: what the copy contains. */
export interface WarmDisk {
  /** The hash of each block when it was copied as a whole. */
  readonly hashes: string[];
  /** The blocks that were copied again since. */
  readonly touched: Set<number>;
  /** The moment of the source that the copy has. */
  moment: number;
}

/** The disks by their names. A disk is missing if its copy has to be compared as a whole. */
export type WarmState = Map<string, WarmDisk>;

/** A state as JSON; null when it is too large for the journal. */
export type JournaledState = Readonly<
  Record<string, { readonly hashes: string; readonly touched: readonly number[]; readonly moment: number }>
> | null;

export function toJournal(state: WarmState): JournaledState {
  const blocks = [...state.values()].reduce((sum, { hashes }) => sum + hashes.length, 0);
  if (blocks > MAX_JOURNALED_BLOCKS) return null;
  return Object.fromEntries(
    [...state].map(([disk, { hashes, touched, moment }]) => [
      disk,
      {
        hashes: Buffer.concat(hashes.map((hash) => Buffer.from(hash, 'base64'))).toString('base64'),
        touched: [...touched],
        moment,
      },
    ]),
  );
}

export function fromJournal(journaled: JournaledState | undefined): WarmState | undefined {
  if (!journaled) return undefined;
  return new Map(
    Object.entries(journaled).map(([disk, { hashes, touched, moment }]) => {
      const all = Buffer.from(hashes, 'base64');
      const list = Array.from({ length: all.length / HASH_BYTES }, (_none, block) =>
        all.subarray(block * HASH_BYTES, (block + 1) * HASH_BYTES).toString('base64'),
      );
      return [disk, { hashes: list, touched: new Set(touched), moment }];
    }),
  );
}

/** The parts of extents, none of which belongs to more than one block. */
export function* partsOf(extents: readonly DiskExtent[]): Generator<DiskExtent & { readonly block: number }> {
  for (const { offset, length } of extents) {
    for (let at = offset; at < offset + length;) {
      const block = Math.floor(at / DISK_BLOCK_BYTES);
      const end = Math.min(offset + length, (block + 1) * DISK_BLOCK_BYTES);
      yield { block, offset: at, length: end - at };
      at = end;
    }
  }
}

export const touchedBytesOf = (state: WarmState): number =>
  [...state.values()].reduce((sum, { touched }) => sum + touched.size, 0) * DISK_BLOCK_BYTES;
