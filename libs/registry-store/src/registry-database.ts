import { DomainError, messageOf } from '@headgate/domain-contracts';
import { SqliteDatabase } from '@headgate/sqlite';
import { MIGRATIONS } from './migrations.js';
import { RegistryReserve } from './registry-reserve.js';

/**
 * The registry's file. The service listens before it opens the file, so until then every access is refused with
 * `NOT_READY`. A write that returned is on the disk.
 */
export class RegistryDatabase extends SqliteDatabase {
  /** The space for the records of the changes that have begun. */
  readonly reserve: RegistryReserve;

  constructor(private readonly path: string) {
    super({ file: path, migrations: MIGRATIONS });
    this.reserve = new RegistryReserve(this, path);
  }

  /** @throws Error when the file is not a registry, or a newer release wrote it */
  override open(): this {
    try {
      return super.open();
    } catch (error) {
      throw new Error(`${this.path} can't be used as the registry: ${messageOf(error)}`, { cause: error });
    }
  }

  protected override closedError(): Error {
    return new DomainError('NOT_READY', 'The registry is not open yet; try again in a moment.');
  }
}
