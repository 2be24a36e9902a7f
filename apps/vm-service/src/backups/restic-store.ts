import { statfs } from 'node:fs/promises';
import { hostname } from 'node:os';
import {
  BackupStore,
  Retention,
  type KeepRules,
  type NewSnapshot,
  type ReadingLock,
  type SnapshotFiles,
  type SnapshotIdentity,
  type StoredFile,
  type StoredSnapshot,
  type StoreReport,
  type StoreSpace,
  type WrittenSnapshot,
} from '@headgate/backups';
import { DomainError, type Clock } from '@headgate/domain-contracts';
import { keep, type FileBlock, type ResticRepository, type SnapshotWriter } from '@headgate/restic-repository';
import { translated, translating } from './translate-repository-error.js';

/** An open repository of restic. */
export class ResticStore extends BackupStore {
  constructor(
    private readonly repository: ResticRepository,
    private readonly path: string,
  ) {
    super();
  }

  override expectWritable(): Promise<void> {
    return translating(() => this.repository.expectWritable());
  }

  override space(): Promise<StoreSpace> {
    return translating(async () => {
      const [usedBytes, { bavail, bsize }] = await Promise.all([this.repository.usedBytes(), statfs(this.path)]);
      return { usedBytes, freeBytes: bavail * bsize };
    });
  }

  override snapshots(): Promise<readonly StoredSnapshot[]> {
    return translating(() => this.repository.snapshots());
  }

  override write(
    { time, path, tags, signal, report }: NewSnapshot,
    fill: (files: SnapshotFiles) => Promise<void>,
  ): Promise<WrittenSnapshot> {
    return translating(async () => {
      const { id, readBytes, storedBytes } = await this.repository.backup(
        { hostname: hostname(), username: 'headgate', paths: [path], tags, time: new Date(time) },
        (writer) => fill(filesOf(writer)),
        { signal, onProgress: ({ bytes }) => report(bytes) },
      );
      return { id, readBytes, storedBytes };
    }, signal);
  }

  override openFile(snapshot: string, path: string): Promise<StoredFile> {
    return translating(async () => {
      const file = await this.repository.openFile(snapshot, path);
      return {
        sizeBytes: file.size,
        read: (offset, length) => translating(async () => Buffer.from(await file.read(offset, length))),
        content: (signal) => contentOf(file.blocks(signal), signal),
      };
    });
  }

  override identify(id: string): Promise<SnapshotIdentity> {
    return translating(async () => {
      const snapshot = (await this.repository.snapshots()).find((one) => one.id === id);
      if (!snapshot) throw new DomainError('BACKUP_POINT_NOT_FOUND', 'The target does not have this backup.');
      const files = await this.repository.files(id);
      return {
        tree: snapshot.tree,
        files: files.map(({ path, size, contentId }) => ({ path, sizeBytes: size, contentId })),
      };
    });
  }

  override lockForReading(): Promise<ReadingLock> {
    return translating(() => this.repository.lockForReading());
  }

  override forget(ids: readonly string[]): Promise<void> {
    return translating(() => this.repository.forget(ids));
  }

  override prune(signal: AbortSignal): Promise<number> {
    return translating(async () => (await this.repository.prune({ signal })).freedBytes, signal);
  }

  override check({ readData, signal, report }: Parameters<BackupStore['check']>[0]): Promise<StoreReport> {
    return translating(async () => {
      const { problems, affected, snapshots, readBytes } = await this.repository.check({
        readData,
        signal,
        onProgress: report,
      });
      const files = affected.map(({ snapshotId, path }) => `${path} of the backup ${snapshotId} can't be restored.`);
      return { problems: [...problems.map(({ message }) => message), ...files], snapshots, readBytes };
    }, signal);
  }
}

const filesOf = (writer: SnapshotWriter): SnapshotFiles => ({
  disk: async (path, { sizeBytes, changed, read, parent }) => {
    await writer.file(path, {
      size: sizeBytes,
      read,
      ...(changed !== 'all' && parent && { changed, parent: { snapshotId: parent.snapshot, path: parent.path } }),
    });
  },
  data: (path, content) => writer.data(path, content),
});

async function* contentOf(blocks: AsyncIterable<FileBlock>, signal: AbortSignal): AsyncGenerator<Buffer> {
  try {
    for await (const block of blocks)
      yield block.isZero ? Buffer.alloc(block.length) : Buffer.from(await block.bytes());
  } catch (error) {
    signal.throwIfAborted();
    throw translated(error);
  }
}

/** The rules of restic. */
export class ResticRetention extends Retention {
  constructor(private readonly clock: Clock) {
    super();
  }

  override kept(
    points: readonly { readonly id: string; readonly time: string }[],
    rules: KeepRules,
    timeZone: string,
  ): ReadonlySet<string> {
    const judged = keep(points, rules, timeZone, { now: this.clock.now() });
    return new Set(judged.flatMap(({ snapshot, reasons }) => (reasons.length > 0 ? [snapshot.id] : [])));
  }
}
