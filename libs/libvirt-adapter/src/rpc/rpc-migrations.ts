import {
  closeConnection,
  domainOf,
  migrationProcedures,
  type Procedure,
  type RpcConnection,
} from '@headgate/libvirt-rpc';
import type { CallOptions } from '../connection/call-options.js';
import { MigrationOperations, MigrationSession, type MigrationPhase } from '../connection/migration-operations.js';
import type { RpcLink } from './rpc-link.js';

/** A machine that copies the memory of a guest answers slowly. */
const PATIENT_KEEPALIVE = { intervalMs: 10_000, count: 6 };
/** Starting or ending QEMU on a busy machine. */
const PHASE_TIMEOUT_MS = 180_000;
const PERFORM_TIMEOUT_MS = 24 * 60 * 60_000;

export class RpcMigrations extends MigrationOperations {
  constructor(private readonly link: RpcLink) {
    super();
  }

  override async open(): Promise<MigrationSession> {
    return new RpcMigrationSession(this.link, await this.link.open(PATIENT_KEEPALIVE));
  }
}

class RpcMigrationSession extends MigrationSession {
  constructor(
    private readonly link: RpcLink,
    private readonly connection: RpcConnection,
  ) {
    super();
  }

  override begin(
    uuid: string,
    phase: Omit<MigrationPhase, 'cookie'>,
  ): Promise<{ readonly cookie: Buffer; readonly xml: string }> {
    return this.call(migrationProcedures.begin, { domain: domainOf(uuid), ...phase });
  }

  override prepare(phase: MigrationPhase): Promise<{ readonly cookie: Buffer; readonly uri: string | null }> {
    return this.call(migrationProcedures.prepare, phase);
  }

  override async perform(uuid: string, phase: MigrationPhase, options?: CallOptions): Promise<Buffer> {
    const args = { domain: domainOf(uuid), destinationUri: null, ...phase };
    return (await this.call(migrationProcedures.perform, args, { timeoutMs: PERFORM_TIMEOUT_MS, ...options })).cookie;
  }

  override async finish(phase: MigrationPhase, isCanceled: boolean): Promise<Buffer> {
    return (await this.call(migrationProcedures.finish, { ...phase, isCanceled })).cookie;
  }

  override async confirm(uuid: string, phase: MigrationPhase, isCanceled: boolean): Promise<void> {
    await this.call(migrationProcedures.confirm, { domain: domainOf(uuid), ...phase, isCanceled });
  }

  override close(): Promise<void> {
    return closeConnection(this.connection);
  }

  private async call<A, R>(procedure: Procedure<A, R>, args: A, options?: CallOptions): Promise<R> {
    try {
      return await this.connection.call(procedure, args, { timeoutMs: PHASE_TIMEOUT_MS, ...options, isSlow: true });
    } catch (error) {
      throw this.link.translate(error);
    }
  }
}
