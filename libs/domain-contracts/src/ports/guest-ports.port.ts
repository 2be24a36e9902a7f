import type { Duplex } from 'node:stream';
import type { InstanceRef } from '../values/instance-ref.js';

/** The bytes of a TCP connection, which fails when the guest resets it. */
export interface GuestConnection extends Duplex {
  /**
   * Aborts it so that the guest sees a reset, and does not take bytes that are cut off for all of them. Absent where
   * the engine has no way for that: then `destroy` does what it can.
   */
  reset?(): void;
}

/** Connects to TCP ports of running guests. The caller decides who may. */
export abstract class GuestPorts {
  /**
   * Whether `end` of a connection ends the input of the guest and leaves its output open. Otherwise the guest does not
   * see the end of its input, and the connection ends when it is destroyed or the guest ends it.
   */
  abstract readonly passesEnd: boolean;

  /**
   * Connects to an address that the engine knows to be the guest's, and never to one that only the guest claims.
   * @param port 1 to 65535
   * @throws DomainError INSTANCE_NOT_FOUND, NOT_SUPPORTED for a guest without such an address, WRONG_STATE when it is
   *   not running, is paused, or no program in it accepts connections at the port, BACKEND_UNREACHABLE, BACKEND_TIMEOUT
   */
  abstract connect(ref: InstanceRef, port: number): Promise<GuestConnection>;
}
