import { type BlobEntry, sha256 } from '../format/blobs.js';
import { throwIfAborted } from '../model/abort.js';
import type { DamagedError } from '../model/errors.js';
import type { CheckOptions, CheckProblem, CheckReport } from '../model/types.js';
import { SnapshotTree } from '../reading/snapshot-tree.js';
import { BlobReader } from '../store/blob-reader.js';
import type { IndexCache } from '../store/index-cache.js';
import type { SealedFiles } from '../store/sealed-files.js';
import { loadSnapshots } from '../store/snapshots.js';
import type { ListedFile } from '../target/repository-target.js';
import { AffectedFiles } from './affected-files.js';
import { checkPack, entriesByPack } from './pack-check.js';

export interface CheckDeps {
  readonly files: SealedFiles;
  readonly index: IndexCache;
  readonly signal: AbortSignal;
}

/** Finds all damage, and the files that it affects. Snapshots are listed before the index, as writers need it. */
export async function check(deps: CheckDeps, options: CheckOptions): Promise<CheckReport> {
  const { files, index } = deps;
  const problems: CheckProblem[] = [...(await checkKeys(files))];
  const { snapshots, damaged } = await loadSnapshots(files);
  const loaded = await index.refresh();
  problems.push(...damaged.map((error) => problemOf('snapshot', error)));
  problems.push(...loaded.damaged.map((error) => problemOf('index', error)));
  const packs = await files.target.list('data');
  const expected = entriesByPack(loaded.blobs);
  const lost = new LostCopies();
  problems.push(...findLostPacks(packs, expected, lost));
  const readBytes = options.readData ? await readPacks(deps, options, packs, expected, { problems, lost }) : 0;
  const affected = new AffectedFiles(new SnapshotTree(new BlobReader(files, index)), loaded.blobs, (id) =>
    lost.hasNoOther(id, loaded.blobs.find('data', id).length),
  );
  for (const snapshot of snapshots) {
    throwIfAborted(deps.signal);
    await affected.check(snapshot);
  }
  problems.push(...affected.problems);
  return {
    isIntact: problems.length === 0,
    problems,
    affected: affected.affected,
    snapshots: snapshots.length,
    packs: packs.length,
    blobs: loaded.blobs.blobs,
    readBytes,
    garbage: garbageOf(packs, expected, affected.used),
  };
}

/** How many copies of each blob are damaged. */
class LostCopies {
  private readonly copies = new Map<string, number>();

  add(id: string): void {
    this.copies.set(id, (this.copies.get(id) ?? 0) + 1);
  }

  hasNoOther(id: string, copies: number): boolean {
    return (this.copies.get(id) ?? 0) >= copies;
  }
}

const problemOf = (kind: CheckProblem['kind'], error: DamagedError): CheckProblem => ({
  kind,
  id: error.subject.split('/').at(-1) ?? error.subject,
  message: error.message,
});

async function checkKeys({ target }: SealedFiles): Promise<CheckProblem[]> {
  const problems: CheckProblem[] = [];
  for (const { name } of await target.list('keys')) {
    if (sha256(await target.read('keys', name)) === name) continue;
    problems.push({ kind: 'key', id: name, message: `keys/${name} is damaged: its content does not match its name.` });
  }
  return problems;
}

/** Packs that the index has and the target lacks, in whole or in part. */
function findLostPacks(
  packs: readonly ListedFile[],
  expected: ReadonlyMap<string, readonly BlobEntry[]>,
  lost: LostCopies,
): CheckProblem[] {
  const sizes = new Map(packs.map(({ name, size }) => [name, size]));
  const problems: CheckProblem[] = [];
  for (const [id, blobs] of expected) {
    const size = sizes.get(id);
    const cut = blobs.filter(({ offset, length }) => offset + length > (size ?? -1));
    if (cut.length === 0) continue;
    for (const blob of cut) lost.add(blob.id);
    problems.push({ kind: 'pack', id, message: `data/${id} ${size === undefined ? 'is missing' : 'is cut short'}.` });
  }
  return problems;
}

async function readPacks(
  { files, signal }: CheckDeps,
  { onProgress }: CheckOptions,
  packs: readonly ListedFile[],
  expected: ReadonlyMap<string, readonly BlobEntry[]>,
  found: { readonly problems: CheckProblem[]; readonly lost: LostCopies },
): Promise<number> {
  const total = packs.reduce((sum, { size }) => sum + size, 0);
  let done = 0;
  for (const pack of packs) {
    throwIfAborted(signal);
    // Blobs that are cut off have been counted.
    const blobs = (expected.get(pack.name) ?? []).filter(({ offset, length }) => offset + length <= pack.size);
    const { problems, damagedBlobs } = await checkPack(files, pack, blobs);
    const known = new Set(found.problems.filter(({ kind }) => kind === 'pack').map(({ id }) => id));
    found.problems.push(...problems.filter(({ kind, id }) => kind !== 'pack' || !known.has(id)));
    for (const id of damagedBlobs) found.lost.add(id);
    done += pack.size;
    onProgress?.(done, total);
  }
  return done;
}

function garbageOf(
  packs: readonly ListedFile[],
  expected: ReadonlyMap<string, readonly BlobEntry[]>,
  used: { readonly data: ReadonlySet<string>; readonly tree: ReadonlySet<string> },
): CheckReport['garbage'] {
  const garbage = { packs: 0, blobs: 0, bytes: 0 };
  for (const { name, size } of packs) {
    const blobs = expected.get(name);
    const unused = blobs?.filter(({ type, id }) => !used[type].has(id)) ?? [];
    if (blobs === undefined || unused.length === blobs.length) {
      garbage.packs++;
      garbage.bytes += size;
    } else garbage.bytes += unused.reduce((sum, { length }) => sum + length, 0);
    garbage.blobs += unused.length;
  }
  return garbage;
}
