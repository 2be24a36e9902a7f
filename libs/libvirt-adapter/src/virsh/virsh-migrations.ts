import { DomainError } from '@headgate/domain-contracts';
import { MigrationOperations, type MigrationSession } from '../connection/migration-operations.js';
import type { Virsh } from './virsh.js';

/** virsh would direct a migration from a process that outlives this one, and whose end could not be observed. */
export class VirshMigrations extends MigrationOperations {
  constructor(private readonly virsh: Virsh) {
    super();
  }

  override open(): Promise<MigrationSession> {
    const reason = `A live migration needs libvirt's RPC protocol over a socket or ssh, which ${this.virsh.uri} does not use.`;
    return Promise.reject(new DomainError('NOT_SUPPORTED', reason));
  }
}
