import { PassThrough, type Duplex } from 'node:stream';
import { DomainError, GuestPorts, type GuestConnection, type InstanceRef } from '@headgate/domain-contracts';
import type { MemoryEngine } from './memory-engine.js';

/** @returns undefined where no program accepts connections */
export type OpenPort = (ref: InstanceRef, port: number) => Duplex | undefined;

/** The port of the echo protocol. Source: RFC 862. */
export const ECHO_PORT = 7;

const openEcho: OpenPort = (_ref, port) => (port === ECHO_PORT ? new PassThrough() : undefined);

export class MemoryGuestPorts extends GuestPorts {
  override readonly passesEnd = true;

  constructor(
    private readonly engine: MemoryEngine,
    private readonly open = openEcho,
  ) {
    super();
  }

  override async connect(ref: InstanceRef, port: number): Promise<GuestConnection> {
    const { status } = this.engine.vm(ref);
    if (status !== 'Running') throw new DomainError('WRONG_STATE', `${ref.name} is not running.`);
    const connection = this.open(ref, port);
    if (connection) return connection;
    throw new DomainError('WRONG_STATE', `No program of ${ref.name} accepts connections at port ${port}.`);
  }
}
