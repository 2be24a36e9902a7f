import { encodeSnapshot } from '../format/snapshot-file.js';
import { abortable, throwIfAborted } from '../model/abort.js';
import { InvalidInputError } from '../model/errors.js';
import type { BackupInput, BackupOptions, SnapshotReport, SnapshotWriter } from '../model/types.js';
import type { RepositoryLock } from '../locks/repository-lock.js';
import type { IndexCache } from '../store/index-cache.js';
import type { SealedFiles } from '../store/sealed-files.js';
import { BackupSession } from './backup-session.js';
import { BlobWriter } from './blob-writer.js';
import { type FindContent, SessionWriter } from './session-writer.js';
import { TreeBuilder } from './tree-builder.js';

export interface BackupDeps {
  readonly files: SealedFiles;
  readonly index: IndexCache;
  readonly lock: RepositoryLock;
  readonly findContent: FindContent;
  readonly username: string;
}

/** Writes packs, then their index, and at last the snapshot, so that a snapshot never lacks anything. */
export async function writeSnapshot(
  deps: BackupDeps,
  input: BackupInput,
  write: (writer: SnapshotWriter) => Promise<void>,
  options: BackupOptions,
): Promise<SnapshotReport> {
  const time = timeOf(input);
  const signal = options.signal ? AbortSignal.any([options.signal, deps.lock.signal]) : deps.lock.signal;
  throwIfAborted(signal);
  const { files } = deps;
  const packs = new Map((await files.target.list('data')).map(({ name, size }) => [name, size]));
  const { blobs, recovered } = await deps.index.refresh();
  const writer = new BlobWriter(files);
  writer.adopt(recovered);
  const session = new BackupSession({
    blobs,
    writer,
    packs,
    signal,
    onProgress: options.onProgress ?? (() => undefined),
  });
  const tree = new TreeBuilder();
  const snapshotWriter = new SessionWriter(session, tree, deps.findContent, time);
  try {
    await abortable(write(snapshotWriter), signal);
    await snapshotWriter.close();
    const root = await tree.store(session, time);
    await writer.finish();
    throwIfAborted(signal);
    await deps.lock.verify();
    const id = await files.save('snapshots', encodeSnapshot({ ...snapshotOf(deps, input), time, tree: root }));
    return { id, tree: root, time, ...session.totals };
  } finally {
    await snapshotWriter.close();
    await writer.settle();
  }
}

function snapshotOf({ username }: BackupDeps, input: BackupInput) {
  const { hostname, paths, tags, parent } = input;
  return { hostname, username: input.username ?? username, paths, tags, ...(parent === undefined ? {} : { parent }) };
}

function timeOf({ time, hostname, paths, tags }: BackupInput): string {
  if (Number.isNaN(time.getTime())) throw new InvalidInputError('time: is no valid date.');
  if (hostname === '') throw new InvalidInputError('hostname: must not be empty.');
  if (paths.length === 0) throw new InvalidInputError('paths: at least one is needed.');
  // restic separates tags by commas on its command line.
  const odd = tags.find((tag) => tag === '' || tag.includes(','));
  if (odd !== undefined) throw new InvalidInputError(`tags: ${JSON.stringify(odd)} is empty or has a comma.`);
  return time.toISOString();
}
