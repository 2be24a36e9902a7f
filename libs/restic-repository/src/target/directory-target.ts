import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { link, lstat, mkdir, open, readdir, rename, rm, stat, unlink } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { FileExistsError, FileNotFoundError, InvalidInputError } from '../model/errors.js';
import { type FileType, type ListedFile, RepositoryTarget } from './repository-target.js';

const FOLDERS = ['data', 'index', 'keys', 'locks', 'snapshots'] as const;
const NAME = /^[0-9a-f]{64}$/;
/** The end of the name of a file that is being written. restic's own are `NAME-tmp-RANDOM`. */
const TEMPORARY = '-tmp-';

/** What file systems without hard links answer, such as exFAT and some file servers. */
const NO_LINKS: ReadonlySet<unknown> = new Set(['EPERM', 'ENOSYS', 'ENOTSUP', 'EOPNOTSUPP', 'EMLINK']);

const codeOf = (error: unknown): unknown => (error as NodeJS.ErrnoException | undefined)?.code;

/**
 * A repository in a folder, which may be the mount of a file server, in restic's default layout. Folders have mode 0700
 * and files 0600.
 */
export class DirectoryTarget extends RepositoryTarget {
  private readonly preparedFolders = new Set<string>();

  constructor(private readonly folder: string) {
    super();
  }

  override async prepare(): Promise<void> {
    await mkdir(this.folder, { recursive: true, mode: 0o700 });
    for (const name of FOLDERS) await this.makeFolder(join(this.folder, name));
    await syncFolder(dirname(this.folder));
  }

  override async list(type: FileType): Promise<ListedFile[]> {
    if (type === 'config') return this.listConfig();
    if (type !== 'data') return listFolder(join(this.folder, type), () => true);
    const found: ListedFile[] = [];
    for (const prefix of await namesIn(join(this.folder, 'data'))) {
      if (!/^[0-9a-f]{2}$/.test(prefix)) continue;
      for (const file of await listFolder(join(this.folder, 'data', prefix), (name) => name.startsWith(prefix))) {
        found.push(file);
      }
    }
    return found;
  }

  override async read(type: FileType, name: string, offset = 0, length?: number): Promise<Uint8Array> {
    const handle = await this.onFile(type, name, (path) => open(path, constants.O_RDONLY | constants.O_NOFOLLOW));
    try {
      const { size } = await handle.stat();
      const wanted = Math.max(0, Math.min(length ?? size, size - offset));
      const bytes = Buffer.allocUnsafeSlow(wanted);
      let done = 0;
      while (done < wanted) {
        const { bytesRead } = await handle.read(bytes, done, wanted - done, offset + done);
        if (bytesRead === 0) break;
        done += bytesRead;
      }
      return bytes.subarray(0, done);
    } finally {
      await handle.close();
    }
  }

  override async write(type: FileType, name: string, bytes: Uint8Array): Promise<void> {
    const path = this.pathOf(type, name);
    const folder = dirname(path);
    if (type === 'data') await this.makeFolder(folder);
    const temporary = join(folder, `${basename(path)}${TEMPORARY}${randomBytes(6).toString('hex')}`);
    try {
      await writeDurably(temporary, bytes);
      await publish(temporary, path);
    } catch (error) {
      if (codeOf(error) === 'EEXIST') throw new FileExistsError(`${type}/${name} already exists.`);
      throw error;
    } finally {
      await rm(temporary, { force: true });
    }
    await syncFolder(folder);
  }

  override async remove(type: FileType, name: string): Promise<void> {
    await this.onFile(type, name, unlink);
    await syncFolder(dirname(this.pathOf(type, name)));
  }

  override async size(type: FileType, name: string): Promise<number> {
    return (await this.onFile(type, name, (path) => stat(path))).size;
  }

  override async clean(): Promise<void> {
    const folders = FOLDERS.map((name) => join(this.folder, name));
    for (const prefix of await namesIn(join(this.folder, 'data'))) {
      if (/^[0-9a-f]{2}$/.test(prefix)) folders.push(join(this.folder, 'data', prefix));
    }
    for (const folder of folders) {
      for (const name of await namesIn(folder)) {
        if (/^[0-9a-f]{64}-tmp-/.test(name)) await rm(join(folder, name), { force: true });
      }
    }
  }

  private async listConfig(): Promise<ListedFile[]> {
    try {
      return [{ name: 'config', size: await this.size('config', 'config') }];
    } catch (error) {
      if (error instanceof FileNotFoundError) return [];
      throw error;
    }
  }

  private pathOf(type: FileType, name: string): string {
    if (type === 'config') return join(this.folder, 'config');
    if (!NAME.test(name)) throw new InvalidInputError(`name: ${JSON.stringify(name)} is not a SHA-256 in hexadecimal.`);
    return type === 'data' ? join(this.folder, type, name.slice(0, 2), name) : join(this.folder, type, name);
  }

  private async onFile<T>(type: FileType, name: string, act: (path: string) => Promise<T>): Promise<T> {
    try {
      return await act(this.pathOf(type, name));
    } catch (error) {
      if (codeOf(error) === 'ENOENT') throw new FileNotFoundError(`${type}/${name} does not exist.`);
      throw error;
    }
  }

  private async makeFolder(folder: string): Promise<void> {
    if (this.preparedFolders.has(folder)) return;
    try {
      await mkdir(folder, { mode: 0o700 });
      await syncFolder(dirname(folder));
    } catch (error) {
      if (codeOf(error) !== 'EEXIST') throw error;
    }
    this.preparedFolders.add(folder);
  }
}

async function namesIn(folder: string): Promise<string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    // A folder below data/ appears with its first pack.
    if (codeOf(error) === 'ENOENT') return [];
    throw error;
  }
}

async function listFolder(folder: string, isExpected: (name: string) => boolean): Promise<ListedFile[]> {
  const found: ListedFile[] = [];
  for (const name of await namesIn(folder)) {
    if (!NAME.test(name) || !isExpected(name)) continue;
    try {
      found.push({ name, size: (await stat(join(folder, name))).size });
    } catch (error) {
      // Removed since the folder was read.
      if (codeOf(error) !== 'ENOENT') throw error;
    }
  }
  return found;
}

/** Gives a complete file its name, unless the name is taken. */
async function publish(temporary: string, path: string): Promise<void> {
  try {
    // Unlike a rename, a link fails if the name is taken.
    await link(temporary, path);
  } catch (error) {
    if (!NO_LINKS.has(codeOf(error))) throw error;
    if (await isThere(path)) throw Object.assign(new Error(path), { code: 'EEXIST' });
    await rename(temporary, path);
  }
}

const isThere = (path: string): Promise<boolean> =>
  lstat(path).then(
    () => true,
    () => false,
  );

async function writeDurably(path: string, bytes: Uint8Array): Promise<void> {
  const handle = await open(path, 'wx', 0o600);
  try {
    await handle.writeFile(bytes);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Makes new and removed names in a folder durable. Some file servers refuse this for folders and do it anyway. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, constants.O_RDONLY);
  try {
    await handle.sync();
  } catch (error) {
    if (codeOf(error) !== 'EINVAL' && codeOf(error) !== 'ENOTSUP') throw error;
  } finally {
    await handle.close();
  }
}
