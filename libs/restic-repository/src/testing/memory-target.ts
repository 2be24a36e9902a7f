import { FileExistsError, FileNotFoundError } from '../model/errors.js';
import { type FileType, type ListedFile, RepositoryTarget } from '../target/repository-target.js';

/** What a test does before an operation of the target happens; it may throw. */
export type Intercept = (operation: 'read' | 'write' | 'remove' | 'list', type: FileType, name: string) => unknown;

/** Files in memory. `intercept` lets a test fail, delay or observe operations. */
export class MemoryTarget extends RepositoryTarget {
  readonly contents: Map<string, Uint8Array>;
  intercept: Intercept = () => undefined;

  constructor(contents: Iterable<readonly [string, Uint8Array]> = []) {
    super();
    this.contents = new Map(contents);
  }

  /** The files of a type as `type/name`. */
  names(type: FileType): string[] {
    return [...this.contents.keys()].filter((key) => key.startsWith(`${type}/`));
  }

  /** Another target with the same files, as they are now. */
  copy(): MemoryTarget {
    return new MemoryTarget(this.contents);
  }

  /** Changes a file in place, as a failing disk does. */
  damage(key: string, change: (bytes: Buffer) => Uint8Array): void {
    this.contents.set(key, change(Buffer.from(this.contents.get(key) ?? [])));
  }

  override prepare(): Promise<void> {
    return Promise.resolve();
  }

  override async list(type: FileType): Promise<ListedFile[]> {
    await this.intercept('list', type, '');
    return this.names(type).map((key) => ({
      name: key.slice(type.length + 1),
      size: this.contents.get(key)?.length ?? 0,
    }));
  }

  override async read(type: FileType, name: string, offset = 0, length = Infinity): Promise<Uint8Array> {
    await this.intercept('read', type, name);
    return this.get(type, name).slice(offset, offset + length);
  }

  override async write(type: FileType, name: string, bytes: Uint8Array): Promise<void> {
    await this.intercept('write', type, name);
    const key = `${type}/${name}`;
    if (this.contents.has(key)) throw new FileExistsError(`${key} already exists.`);
    this.contents.set(key, Buffer.from(bytes));
  }

  override async remove(type: FileType, name: string): Promise<void> {
    await this.intercept('remove', type, name);
    this.get(type, name);
    this.contents.delete(`${type}/${name}`);
  }

  override size(type: FileType, name: string): Promise<number> {
    return Promise.resolve(this.get(type, name).length);
  }

  override clean(): Promise<void> {
    return Promise.resolve();
  }

  private get(type: FileType, name: string): Uint8Array {
    const bytes = this.contents.get(`${type}/${name}`);
    if (bytes === undefined) throw new FileNotFoundError(`${type}/${name} does not exist.`);
    return bytes;
  }
}
