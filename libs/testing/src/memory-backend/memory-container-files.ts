import { Readable } from 'node:stream';
import {
  bytesOfFile,
  ContainerFiles,
  DomainError,
  type FileEntry,
  type FilePage,
  type FileRange,
  type InstanceRef,
} from '@headgate/domain-contracts';
import type { MemoryEngine } from './memory-engine.js';

/** The files that a test sets, in each container that runs. Folders are those of their paths. */
export class MemoryContainerFiles extends ContainerFiles {
  /** By their paths, as `textOfFile` writes them. */
  files: ReadonlyMap<string, Buffer> = new Map([
    ['/etc/hostname', Buffer.from('memory\n')],
    ['/etc/os-release', Buffer.from('ID=memory\n')],
  ]);
  /** The targets of links by their paths. */
  links: ReadonlyMap<string, string> = new Map();
  /** A folder is cut after so many entries. */
  maxEntries = 50_000;
  /** How many downloads are open. */
  openCount = 0;
  /** The content of a file. A test may replace it. */
  contentOf: (content: Buffer) => Readable = (content) => Readable.from([content], { objectMode: false });

  constructor(private readonly engine: MemoryEngine) {
    super();
  }

  override async list(ref: InstanceRef, path: string, range: FileRange, signal: AbortSignal): Promise<FilePage> {
    const place = this.placeOf(ref, path, signal);
    if (this.files.has(place)) throw new DomainError('WRONG_STATE', 'This is a file, not a folder.');
    const entries = this.entriesOf(place);
    const counted = entries.slice(0, this.maxEntries);
    return {
      total: counted.length,
      isCut: entries.length > counted.length,
      entries: counted.slice(range.skip, range.skip + range.limit),
    };
  }

  override async read(ref: InstanceRef, path: string, signal: AbortSignal): Promise<Readable> {
    const place = this.placeOf(ref, path, signal);
    const content = this.files.get(place);
    if (!content) {
      this.entriesOf(place);
      throw new DomainError('WRONG_STATE', 'This is a folder, not a file.');
    }
    const stream = this.contentOf(content);
    const leave = (): void => void stream.destroy(signal.reason as Error);
    this.openCount++;
    stream.once('close', () => {
      this.openCount--;
      signal.removeEventListener('abort', leave);
    });
    signal.addEventListener('abort', leave, { once: true });
    return stream;
  }

  /** The path without links. */
  private placeOf(ref: InstanceRef, path: string, signal: AbortSignal): string {
    bytesOfFile(path);
    signal.throwIfAborted();
    if (this.engine.container(ref).phase !== 'Running')
      throw new DomainError('WRONG_STATE', `The container ${ref.name} is not running. Start it first.`);
    const place = `/${path.split('/').filter(Boolean).join('/')}`;
    return this.links.get(place) ?? place;
  }

  private entriesOf(place: string): FileEntry[] {
    const folder = place === '/' ? place : `${place}/`;
    const found = new Map<string, FileEntry>();
    for (const [file, content] of this.files) {
      if (!file.startsWith(folder)) continue;
      const [name = '', ...below] = file.slice(folder.length).split('/');
      found.set(
        name,
        below.length > 0
          ? { name, kind: 'folder', sizeBytes: 0, mode: 0o755 }
          : { name, kind: 'file', sizeBytes: content.length, mode: 0o644 },
      );
    }
    for (const [link, target] of this.links) {
      const name = link.slice(folder.length);
      if (!link.startsWith(folder) || name.includes('/')) continue;
      const targetKind = this.files.has(target) ? 'file' : 'folder';
      found.set(name, { name, kind: 'link', sizeBytes: 0, mode: 0o777, target, targetKind });
    }
    if (found.size === 0 && place !== '/') throw new DomainError('FILE_NOT_FOUND', 'The container has no such file.');
    return [...found.values()].sort((one, other) => (one.name < other.name ? -1 : 1));
  }
}
