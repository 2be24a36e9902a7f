import { lstat, realpath } from 'node:fs/promises';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { DomainError } from '@headgate/domain-contracts';

/**
 * The folders in which repositories may be. The service may run as root, so a path that a caller chooses must lead
 * nowhere else, also through a link.
 */
export class AllowedFolders {
  constructor(private readonly folders: readonly string[]) {}

  /** @throws DomainError INVALID_INPUT */
  async expect(path: string): Promise<void> {
    if (this.folders.length === 0)
      throw refused('no folder is allowed for backups: name one in backups.folders of the configuration');
    if (path !== resolve(path)) throw refused('it must be absolute, without . and .. and / at its end');
    const folder = this.folders.map((one) => resolve(one)).find((one) => path === one || path.startsWith(one + sep));
    if (folder === undefined) throw refused('it is in none of the folders that backups.folders allows');
    await expectFolder(folder);
    const real = await realpath(folder);
    let at = folder;
    for (const part of relative(folder, path).split(sep).filter(Boolean)) {
      at = join(at, part);
      if (!(await expectFolder(at, { mayBeMissing: true }))) return;
    }
    // The folder itself may be a link that the operator has created.
    if ((await realpath(path)) !== join(real, relative(folder, path))) throw refused('a part of it is a link');
  }
}

/** @returns whether it exists */
async function expectFolder(path: string, { mayBeMissing = false } = {}): Promise<boolean> {
  try {
    const found = await lstat(path);
    if (found.isSymbolicLink() && !mayBeMissing) return true;
    if (found.isSymbolicLink()) throw refused(`${path} is a link`);
    if (!found.isDirectory()) throw refused(`${path} is no folder`);
    return true;
  } catch (error) {
    if (DomainError.is(error)) throw error;
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' && mayBeMissing) return false;
    throw refused(`${code === 'ENOENT' ? dirname(path) : path} can't be read (${code ?? 'unknown'})`);
  }
}

const refused = (reason: string): DomainError => new DomainError('INVALID_INPUT', `path: ${reason}.`);
