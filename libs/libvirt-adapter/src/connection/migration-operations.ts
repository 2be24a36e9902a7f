import type { CallOptions } from './call-options.js';

/** A parameter by libvirt's name: https://libvirt.org/html/libvirt-libvirt-domain.html#virDomainMigrateParameters */
export interface MigrationParameter {
  readonly field: string;
  readonly value: string;
}

/** The input of a phase. */
export interface MigrationPhase {
  readonly params: readonly MigrationParameter[];
  /** `virDomainMigrateFlags`. */
  readonly flags: number;
  /** The cookie of the phase before. */
  readonly cookie: Buffer;
}

/** One side of a migration over a connection of its own. libvirt cancels the migration when the connection ends. */
export abstract class MigrationSession {
  /** On the source. @returns the description of the guest for the destination */
  abstract begin(uuid: string, phase: Omit<MigrationPhase, 'cookie'>): Promise<{ cookie: Buffer; xml: string }>;
  /** On the destination: starts a QEMU that waits for the guest. @returns the address to which the source connects */
  abstract prepare(phase: MigrationPhase): Promise<{ cookie: Buffer; uri: string | null }>;
  /** On the source: copies the guest. May take hours. */
  abstract perform(uuid: string, phase: MigrationPhase, options?: CallOptions): Promise<Buffer>;
  /** On the destination: lets the guest run there, or ends the QEMU that waits. */
  abstract finish(phase: MigrationPhase, isCanceled: boolean): Promise<Buffer>;
  /** On the source: ends its QEMU, or lets the guest continue there. */
  abstract confirm(uuid: string, phase: MigrationPhase, isCanceled: boolean): Promise<void>;
  abstract close(): Promise<void>;
}

export abstract class MigrationOperations {
  /** @throws DomainError NOT_SUPPORTED over a connection that can't direct migrations */
  abstract open(): Promise<MigrationSession>;
}
