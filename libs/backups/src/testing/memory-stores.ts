import { createHash, randomBytes } from 'node:crypto';
import {
  BackupTargetStore,
  byTargetName,
  DomainError,
  type BackupTarget,
  type DiskExtent,
} from '@headgate/domain-contracts';
import {
  BackupStore,
  BackupStores,
  type NewSnapshot,
  type ReadingLock,
  type SnapshotFiles,
  type SnapshotIdentity,
  type StoredFile,
  type StoredSnapshot,
  type StoreReport,
  type StoreSpace,
  type WrittenSnapshot,
} from '../backup-store.js';
import { Retention, type KeepRules } from '../retention.js';

const PART_BYTES = 1024 ** 2;

/** The targets of a test. */
export class MemoryTargets extends BackupTargetStore {
  private targets: readonly BackupTarget[] = [];

  override async put(target: BackupTarget): Promise<void> {
    this.targets = [...this.targets.filter(({ id }) => id !== target.id), target].sort(byTargetName);
  }

  override async delete(_owner: string, id: string): Promise<boolean> {
    const before = this.targets.length;
    this.targets = this.targets.filter((target) => target.id !== id);
    return this.targets.length < before;
  }

  override of(): readonly BackupTarget[] {
    return this.targets;
  }

  override all(): readonly BackupTarget[] {
    return this.targets;
  }

  override count(): number {
    return this.targets.length;
  }
}

interface Snapshot extends StoredSnapshot {
  readonly files: ReadonlyMap<string, Buffer>;
}

/** A repository in memory, which other services may write to as well. */
export class MemoryStore extends BackupStore {
  readonly stored: Snapshot[] = [];
  /** Thrown by the next write. */
  failure?: Error;
  /** How many bytes were read of disks. */
  readBytes = 0;
  pruned = 0;
  /** Changes are read with the rest of their blocks, as of a repository that has blocks. */
  blockBytes = 1;
  /** How often it is excluded by another process before it is free. */
  busyTimes = 0;
  /** How many locks for reading are held. */
  readers = 0;

  override async snapshots(): Promise<readonly StoredSnapshot[]> {
    return this.stored;
  }

  override async expectWritable(): Promise<void> {
    this.expectFree();
  }

  override async space(): Promise<StoreSpace> {
    return { usedBytes: this.readBytes };
  }

  private expectFree(): void {
    if (this.busyTimes > 0) {
      this.busyTimes--;
      const message = 'The backup target is used by node-b (process 7): wait until that has ended.';
      throw new DomainError('BUSY', message, { details: { holder: { hostname: 'node-b', pid: 7 } } });
    }
  }

  override async write(
    { time, tags, signal, report }: NewSnapshot,
    fill: (files: SnapshotFiles) => Promise<void>,
  ): Promise<WrittenSnapshot> {
    const files = new Map<string, Buffer>();
    let [bytes, readBytes] = [0, 0];
    await fill({
      disk: async (path, { sizeBytes, changed, read, parent }) => {
        const before = parent && this.stored.find(({ id }) => id === parent.snapshot)?.files.get(parent.path);
        const content = Buffer.alloc(sizeBytes);
        before?.copy(content);
        const extents = changed === 'all' || !before ? [{ offset: 0, length: sizeBytes }] : changed;
        for (const extent of extents.map((one) => inBlocks(one, this.blockBytes)))
          for (let at = extent.offset; at < extent.offset + extent.length; at += PART_BYTES) {
            signal.throwIfAborted();
            const part = await read(at, Math.min(PART_BYTES, extent.offset + extent.length - at, sizeBytes - at));
            part.copy(content, at);
            readBytes += part.length;
          }
        files.set(path, content);
        report((bytes += sizeBytes));
      },
      data: async (path, content) => void files.set(path, content),
    });
    if (this.failure) throw this.failure;
    this.readBytes += readBytes;
    const id = randomBytes(32).toString('hex');
    this.stored.push({ id, time, tags, files });
    return { id, readBytes, storedBytes: readBytes };
  }

  override async openFile(snapshot: string, path: string): Promise<StoredFile> {
    const content = this.stored.find(({ id }) => id === snapshot)?.files.get(path);
    if (!content) throw new DomainError('BACKUP_POINT_NOT_FOUND', `There is no file ${path}.`);
    return {
      sizeBytes: content.length,
      read: async (offset, length) => content.subarray(offset, offset + length),
      content: async function* () {
        for (let at = 0; at < content.length; at += PART_BYTES) yield content.subarray(at, at + PART_BYTES);
      },
    };
  }

  override async identify(snapshot: string): Promise<SnapshotIdentity> {
    const found = this.stored.find(({ id }) => id === snapshot);
    if (!found) throw new DomainError('BACKUP_POINT_NOT_FOUND', 'There is no such snapshot.');
    const hashOf = (content: Buffer): string => createHash('sha256').update(content).digest('hex');
    const files = [...found.files].map(([path, content]) => ({
      path,
      sizeBytes: content.length,
      contentId: hashOf(content),
    }));
    return { tree: hashOf(Buffer.from(JSON.stringify(files))), files };
  }

  override async lockForReading(): Promise<ReadingLock> {
    this.readers += 1;
    return {
      signal: new AbortController().signal,
      release: async () => {
        this.readers -= 1;
      },
    };
  }

  override async forget(ids: readonly string[]): Promise<void> {
    for (const id of ids) {
      const at = this.stored.findIndex((snapshot) => snapshot.id === id);
      if (at >= 0) this.stored.splice(at, 1);
    }
  }

  override async prune(): Promise<number> {
    this.expectFree();
    this.pruned += 1;
    return 0;
  }

  override async check(): Promise<StoreReport> {
    return { problems: [], snapshots: this.stored.length, readBytes: 0 };
  }
}

function inBlocks({ offset, length }: DiskExtent, blockBytes: number): DiskExtent {
  const start = Math.floor(offset / blockBytes) * blockBytes;
  return { offset: start, length: Math.ceil((offset + length) / blockBytes) * blockBytes - start };
}

/** One repository for all targets. */
export class MemoryStores extends BackupStores {
  readonly store = new MemoryStore();
  /** The IDs of the targets that were removed. */
  readonly forgotten: string[] = [];
  /** Thrown when the repository is opened. */
  failure?: Error;

  override async expectAllowed(path: string): Promise<void> {
    if (!path.startsWith('/backups/')) throw new DomainError('INVALID_INPUT', `path: ${path} is not allowed.`);
  }

  override async prepare(): Promise<'created' | 'opened'> {
    await this.open();
    return 'opened';
  }

  override forget(id: string): void {
    this.forgotten.push(id);
  }

  override async open(): Promise<BackupStore> {
    if (this.failure) throw this.failure;
    return this.store;
  }
}

/** Keeps the last ones only. */
export class LastRetention extends Retention {
  override kept(
    points: readonly { readonly id: string; readonly time: string }[],
    { last = 0 }: KeepRules,
  ): ReadonlySet<string> {
    const sorted = [...points].sort((a, b) => Date.parse(b.time) - Date.parse(a.time));
    return new Set(sorted.slice(0, last).map(({ id }) => id));
  }
}
