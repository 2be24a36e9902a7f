import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';

/** Records by name, in a file. An unreadable file counts as empty. */
export class JsonIndex<T> {
  private entries?: Promise<Map<string, T>>;
  private writing: Promise<void> = Promise.resolve();

  constructor(private readonly file: string) {}

  async all(): Promise<ReadonlyMap<string, T>> {
    return this.read();
  }

  async get(name: string): Promise<T | undefined> {
    return (await this.read()).get(name);
  }

  async set(name: string, record: T): Promise<void> {
    (await this.read()).set(name, record);
    await this.write();
  }

  async delete(name: string): Promise<void> {
    if ((await this.read()).delete(name)) await this.write();
  }

  private read(): Promise<Map<string, T>> {
    this.entries ??= readFile(this.file, 'utf8')
      .then((text) => new Map(Object.entries(JSON.parse(text) as Record<string, T>)))
      .catch(() => new Map<string, T>());
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
