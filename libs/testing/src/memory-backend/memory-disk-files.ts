import { Readable } from 'node:stream';
import {
  buildPlan,
  bytesOfFile,
  DiskFiles,
  DomainError,
  OpenedFiles,
  refusal,
  throwFirstRefusal,
  type FileContent,
  type FileEntry,
  type FilePage,
  type FileRange,
  type FilesSpec,
  type FileVolume,
  type Plan,
} from '@headgate/domain-contracts';
import type { MemoryEngine } from './memory-engine.js';

const MAX_SESSIONS = 3;
const BLOCK_BYTES = 512;
const NO_FILE_SYSTEM = 'It has no file system that is known here.';

/** Each disk is one volume, with the files that a test sets. Without any, its content is not known. */
export class MemoryDiskFiles extends DiskFiles {
  /** By their paths, as `textOfFile` writes them. Folders are those of the paths. */
  files: ReadonlyMap<string, Buffer> = new Map();
  /** The specs of all sessions. */
  readonly opened: FilesSpec[] = [];
  /** By the IDs of the sessions that are open. */
  readonly sessions = new Map<string, MemoryOpenedFiles>();

  constructor(private readonly engine: MemoryEngine) {
    super();
  }

  override async plan({ id, diskCount }: { readonly id: string; readonly diskCount: number }): Promise<Plan> {
    this.engine.expectReachable();
    const others = [...this.sessions.keys()].filter((other) => other !== id).length;
    const refusals = [
      ...(others >= MAX_SESSIONS ? [refusal('BUSY', `${others} sessions are open.`, 'Close one of them.')] : []),
      ...(diskCount === 0 ? [refusal('NOT_SUPPORTED', 'The VM has no disk.', 'Add a disk.')] : []),
    ];
    return buildPlan([{ name: 'open', detail: 'Boot a guest that reads the disks.' }], { refusals });
  }

  override async open(spec: FilesSpec, signal: AbortSignal): Promise<OpenedFiles> {
    throwFirstRefusal(await this.plan({ id: spec.id, diskCount: spec.disks.length }));
    signal.throwIfAborted();
    this.opened.push(spec);
    for (const { read, sizeBytes } of spec.disks) await read(0, Math.min(BLOCK_BYTES, sizeBytes));
    const opened = new MemoryOpenedFiles(spec, this.files, () => this.sessions.delete(spec.id));
    this.sessions.set(spec.id, opened);
    return opened;
  }
}

export class MemoryOpenedFiles extends OpenedFiles {
  override readonly volumes: readonly FileVolume[];
  override readonly ended: Promise<void>;
  private leave: () => void = () => undefined;
  private hasEnded = false;

  constructor(
    { disks }: FilesSpec,
    private readonly files: ReadonlyMap<string, Buffer>,
    private readonly onEnd: () => void,
  ) {
    super();
    this.ended = new Promise((resolve) => (this.leave = resolve));
    this.volumes = disks.map(({ name, sizeBytes }, number) => ({
      number,
      disk: name,
      name,
      fileSystem: files.size > 0 ? 'ext4' : 'unknown',
      label: '',
      sizeBytes,
      ...(files.size === 0 && { problem: NO_FILE_SYSTEM }),
    }));
  }

  override async list(volume: number, path: string, { skip, limit }: FileRange): Promise<FilePage> {
    const folder = this.folderOf(volume, path);
    const names = new Map<string, FileEntry>();
    for (const [file, content] of this.files) {
      if (!file.startsWith(folder)) continue;
      const [name = '', ...rest] = file.slice(folder.length).split('/');
      const isFolder = rest.length > 0;
      const kind = isFolder ? 'folder' : 'file';
      names.set(name, { name, kind, sizeBytes: isFolder ? 0 : content.length, mode: isFolder ? 0o755 : 0o644 });
    }
    if (names.size === 0 && folder !== '/') throw new DomainError('FILE_NOT_FOUND', 'There is no such file.');
    const sorted = [...names.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
    return { total: sorted.length, isCut: false, entries: sorted.slice(skip, skip + limit) };
  }

  override async read(volume: number, path: string, signal: AbortSignal): Promise<FileContent> {
    this.folderOf(volume, path);
    signal.throwIfAborted();
    const content = this.files.get(path);
    if (!content) throw new DomainError('FILE_NOT_FOUND', 'There is no such file.');
    return { sizeBytes: content.length, stream: Readable.from([content], { objectMode: false }) };
  }

  /** The names and the contents one after the other: no archive of tar. */
  override async archive(volume: number, path: string, signal: AbortSignal): Promise<Readable> {
    const folder = this.folderOf(volume, path);
    signal.throwIfAborted();
    const parts = [...this.files].filter(([file]) => file.startsWith(folder));
    if (parts.length === 0) throw new DomainError('FILE_NOT_FOUND', 'There is no such folder.');
    return Readable.from(
      parts.map(([file, content]) => Buffer.concat([Buffer.from(`${file}\n`), content])),
      { objectMode: false },
    );
  }

  override async close(): Promise<void> {
    this.hasEnded = true;
    this.onEnd();
    this.leave();
  }

  private folderOf(number: number, path: string): string {
    if (this.hasEnded) throw new DomainError('BACKEND_FAILED', 'The guest that reads the files has ended.');
    bytesOfFile(path);
    const volume = this.volumes[number];
    if (!volume) throw new DomainError('FILE_NOT_FOUND', `There is no volume ${number}.`);
    if (volume.problem !== undefined) throw new DomainError('NOT_SUPPORTED', volume.problem);
    return path.endsWith('/') ? path : `${path}/`;
  }
}
