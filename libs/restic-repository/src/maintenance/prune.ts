import { encodeIndex, type PackEntries } from '../format/index-file.js';
import type { RepositoryLock } from '../locks/repository-lock.js';
import { throwIfAborted } from '../model/abort.js';
import { DamagedError, FileNotFoundError, InvalidInputError } from '../model/errors.js';
import type { PruneOptions, PruneReport } from '../model/types.js';
import { openBlob, readSealed } from '../store/blob-reader.js';
import type { IndexCache } from '../store/index-cache.js';
import { entriesByPack } from './pack-check.js';
import type { SealedFiles } from '../store/sealed-files.js';
import type { FileType, ListedFile } from '../target/repository-target.js';
import { BlobWriter } from '../writing/blob-writer.js';
import { planPrune, type PrunePlan } from './prune-plan.js';
import { findUsedBlobs } from './used-blobs.js';

export interface PruneDeps {
  readonly files: SealedFiles;
  readonly index: IndexCache;
  /** Exclusive. */
  readonly lock: RepositoryLock;
}

const DEFAULT_REPACK_ABOVE = 0.2;
const INDEX_BLOBS = 50_000;

/**
 * Removes what no snapshot needs. New packs are written first, then an index of everything that stays, then the old
 * index files are removed, and the old packs at last: at each moment, every snapshot is complete.
 */
export async function prune(deps: PruneDeps, options: PruneOptions): Promise<PruneReport> {
  const { files, index, lock } = deps;
  const repackAbove = options.repackAbove ?? DEFAULT_REPACK_ABOVE;
  if (!(repackAbove >= 0 && repackAbove <= 1)) {
    throw new InvalidInputError(`repackAbove: ${repackAbove} is not between 0 and 1.`);
  }
  const signal = options.signal ? AbortSignal.any([options.signal, lock.signal]) : lock.signal;
  throwIfAborted(signal);
  const loaded = await index.refresh();
  const [damaged] = loaded.damaged;
  if (damaged) throw unrepaired(damaged);
  const used = await findUsedBlobs(files, index);
  throwIfAborted(signal);
  const packs = await files.target.list('data');
  const plan = planPrune(packs, loaded.blobs, used, repackAbove);
  const listed = new Set(packs.map(({ name }) => name));
  const hasLostPacks = loaded.blobs.packs.some((pack) => !listed.has(pack));
  const removesNothing = plan.remove.size === 0 && plan.repack.size === 0;
  if (options.dryRun || (removesNothing && !hasLostPacks)) {
    if (!options.dryRun) await files.target.clean();
    return reportOf(plan, packs, 0, options.dryRun ? loaded.files.size : 0);
  }
  const moved = await movePacks(deps, plan, signal);
  const kept = [...entriesByPack(loaded.blobs)].filter(([pack]) => plan.keep.has(pack));
  throwIfAborted(signal);
  await lock.verify();
  await writeIndexes(files, [...kept.map(([id, blobs]) => ({ id, blobs })), ...moved.packs]);
  for (const name of loaded.files) await removeIfThere(files, 'index', name);
  await lock.verify();
  for (const name of [...plan.remove, ...plan.repack]) {
    throwIfAborted(signal);
    await removeIfThere(files, 'data', name);
  }
  await files.target.clean();
  return reportOf(plan, packs, moved.bytes, loaded.files.size);
}

/** Writes the needed blobs of the packs that go away to new packs. A damaged blob ends it before anything goes. */
async function movePacks(
  { files }: PruneDeps,
  plan: PrunePlan,
  signal: AbortSignal,
): Promise<{ readonly packs: readonly PackEntries[]; readonly bytes: number }> {
  const written = { bytes: 0 };
  const writer = new BlobWriter(files, { writesIndex: false });
  try {
    for (const blob of plan.move) {
      throwIfAborted(signal);
      const sealed = await readSealed(files, blob);
      await openBlob(files, sealed, blob);
      await writer.addSealed(blob, sealed);
      written.bytes += sealed.length;
    }
    return { packs: await writer.finishPacks(), ...written };
  } finally {
    await writer.settle();
  }
}

async function writeIndexes(files: SealedFiles, packs: readonly PackEntries[]): Promise<void> {
  let part: PackEntries[] = [];
  let blobs = 0;
  for (const pack of packs) {
    part.push(pack);
    blobs += pack.blobs.length;
    if (blobs < INDEX_BLOBS) continue;
    await files.save('index', encodeIndex(part));
    part = [];
    blobs = 0;
  }
  if (part.length > 0) await files.save('index', encodeIndex(part));
}

async function removeIfThere(files: SealedFiles, type: FileType, name: string): Promise<void> {
  try {
    await files.target.remove(type, name);
  } catch (error) {
    if (!(error instanceof FileNotFoundError)) throw error;
  }
}

function reportOf(plan: PrunePlan, packs: readonly ListedFile[], written: number, indexes: number): PruneReport {
  const gone = packs.filter(({ name }) => !plan.keep.has(name)).reduce((sum, { size }) => sum + size, 0);
  return {
    removedPacks: plan.remove.size,
    repackedPacks: plan.repack.size,
    keptPacks: plan.keep.size,
    freedBytes: Math.max(0, gone - (written || plan.move.reduce((sum, { length }) => sum + length, 0))),
    unusedBytes: plan.unusedBytes,
    removedIndexes: indexes,
  };
}

const unrepaired = (damaged: DamagedError): DamagedError =>
  new DamagedError(`${damaged.message} Repair it with \`restic rebuild-index\` before you prune.`, damaged.subject);
