import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';

interface IndexedImage {
  /** The virtual size. */
  readonly bytes: number;
  /** Milliseconds since the epoch. */
  readonly lastUsed: number;
  /** A layer of a deleted VM that the disks of its clones are based on, instead of an image. */
  readonly isLayer?: boolean;
}

/**
 * The complete base images of this service, by the names of their volumes, in a file. An image is listed after it has been
 * stored, so an image without an entry is incomplete. Losing the file only costs another download.
 */
export class BaseImageIndex {
  private entries?: Promise<Map<string, IndexedImage>>;
  private writing: Promise<void> = Promise.resolve();

  constructor(private readonly file: string) {}

  async get(name: string): Promise<IndexedImage | undefined> {
    return (await this.read()).get(name);
  }

  /** Names of the layers of deleted VMs. */
  async layers(): Promise<string[]> {
    return [...(await this.read())].filter(([, { isLayer }]) => isLayer).map(([name]) => name);
  }

  async set(name: string, image: IndexedImage): Promise<void> {
    (await this.read()).set(name, image);
    await this.write();
  }

  async delete(name: string): Promise<void> {
    if ((await this.read()).delete(name)) await this.write();
  }

  private read(): Promise<Map<string, IndexedImage>> {
    this.entries ??= readFile(this.file, 'utf8')
      .then((text) => new Map(Object.entries(JSON.parse(text) as Record<string, IndexedImage>)))
      .catch(() => new Map<string, IndexedImage>());
    return this.entries;
  }

  /** Writes happen one after another, and each replaces the whole file. */
  private write(): Promise<void> {
    const write = async (): Promise<void> => {
      const content = JSON.stringify(Object.fromEntries(await this.read()), undefined, 2);
      await mkdir(dirname(this.file), { recursive: true, mode: 0o700 });
      await writeFile(`${this.file}.new`, content, { mode: 0o600 });
      await rename(`${this.file}.new`, this.file);
    };
    this.writing = this.writing.catch(() => undefined).then(write);
    return this.writing;
  }
}
