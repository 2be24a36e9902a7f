import type { LibvirtEngine } from '../engine/libvirt-engine.js';
import { LibvirtMigration } from './libvirt-migration.js';
import type { MigrationHost, MigrationTransport } from './migration-host.js';

export interface MigrationOptions {
  /** The host name or address at which other hosts reach this one for migrations, and where its QEMU accepts them. */
  readonly migrationAddress?: string;
  /**
   * How guests come from and go to other machines: `insecure` is neither encrypted nor authenticated. Default: they
   * don't.
   */
  readonly migrationTransport?: MigrationTransport;
}

/** This context as one end of a migration. */
export const migrationHostOf = (
  { context, connection, finder, pool }: LibvirtEngine,
  { migrationAddress, migrationTransport }: MigrationOptions,
): MigrationHost => ({
  context,
  connection,
  finder,
  pool,
  ...(migrationAddress !== undefined && { migrationAddress }),
  ...(migrationTransport !== undefined && { migrationTransport }),
});

/** @param others the other libvirt contexts of the service */
export function openMigration(
  engine: LibvirtEngine,
  self: MigrationHost,
  others: () => readonly MigrationHost[],
): LibvirtMigration {
  const { context, log } = engine;
  if (self.migrationTransport === 'insecure')
    log.warn({ context }, 'live migrations of this context are neither encrypted nor authenticated');
  return new LibvirtMigration({ ...engine, self, others });
}
