import type { BeforeApplicationShutdown } from '@nestjs/common';
import { BackupStores, type BackupStore } from '@headgate/backups';
import { DomainError, type BackupTarget, type Clock } from '@headgate/domain-contracts';
import {
  DirectoryTarget,
  NotARepositoryError,
  RepositoryExistsError,
  ResticRepository,
  WrongPasswordError,
} from '@headgate/restic-repository';
import type { AllowedFolders } from './allowed-folders.js';
import { OpenRepositories } from './open-repositories.js';
import { ResticStore } from './restic-store.js';
import { translated } from './translate-repository-error.js';

/** Repositories in the format of restic, in folders. */
export class ResticStores extends BackupStores implements BeforeApplicationShutdown {
  private readonly opened: OpenRepositories;

  constructor(
    private readonly folders: AllowedFolders,
    private readonly clock: Clock,
  ) {
    super();
    this.opened = new OpenRepositories(clock);
  }

  beforeApplicationShutdown(): void {
    this.opened.close();
  }

  override expectAllowed(path: string): Promise<void> {
    return this.folders.expect(path);
  }

  override async prepare({ path, password }: BackupTarget): Promise<'created' | 'opened'> {
    await this.folders.expect(path);
    try {
      await ResticRepository.create(new DirectoryTarget(path), password, { clock: this.clock });
      await this.folders.expect(path);
      return 'created';
    } catch (error) {
      if (!(error instanceof RepositoryExistsError)) throw translated(error);
    }
    try {
      await ResticRepository.open(new DirectoryTarget(path), password, { clock: this.clock });
      return 'opened';
    } catch (error) {
      if (error instanceof WrongPasswordError)
        throw new DomainError('INVALID_INPUT', `password: ${path} has a repository with another password.`);
      throw translated(error);
    }
  }

  override async open(target: BackupTarget): Promise<BackupStore> {
    const { name, path } = target;
    try {
      await this.folders.expect(path);
      return new ResticStore(await this.repositoryOf(target), path);
    } catch (error) {
      throw unusable(name, error);
    }
  }

  override forget(id: string): void {
    this.opened.drop(id);
  }

  /** Each caller gets an index of its own, so that none is read while another one changes it. */
  private async repositoryOf(target: BackupTarget): Promise<ResticRepository> {
    const { id, path, password } = target;
    const open = () => ResticRepository.open(new DirectoryTarget(path), password, { clock: this.clock });
    const known = await this.opened.get(target, open);
    try {
      return await known.again(new DirectoryTarget(path));
    } catch (error) {
      this.opened.drop(id);
      // Another program may have changed the password of the key, and another key may have this one.
      if (!(error instanceof WrongPasswordError)) throw error;
      return this.opened.get(target, open);
    }
  }
}

/** The path was allowed when the target was added, and is no input of the request. */
function unusable(name: string, error: unknown): DomainError {
  const fail = (reason: string): DomainError =>
    new DomainError('BACKEND_FAILED', `The backup target ${name} can't be used: ${reason}`, { cause: error });
  if (DomainError.is(error, 'INVALID_INPUT')) return fail(error.message);
  if (error instanceof NotARepositoryError)
    return fail('its folder has no repository. Check whether the file system is mounted.');
  if (error instanceof WrongPasswordError) return fail('its repository has another password, or its key is damaged.');
  return translated(error);
}
