import type { InstanceRef } from '../values/instance-ref.js';

export const POWER_ACTIONS = ['start', 'stop', 'restart', 'pause', 'unpause'] as const;
export type PowerAction = (typeof POWER_ACTIONS)[number];

export interface PowerOptions {
  /** Pulls the plug instead of asking the guest. Only for `stop` and `restart`. */
  readonly force?: boolean;
}

/** Turns VMs on and off. Requesting the current state is not an error. */
export abstract class InstancePower {
  /**
   * Returns when the backend has accepted the action; a graceful stop continues in the guest.
   * @throws DomainError INSTANCE_NOT_FOUND, WRONG_STATE (such as restart of a stopped VM), BUSY, BACKEND_UNREACHABLE
   */
  abstract apply(ref: InstanceRef, action: PowerAction, options?: PowerOptions): Promise<void>;

  /**
   * Whether the VM is on, or about to start, and was not asked to stop: an operation that has to stop it starts it
   * again only then. Asks the engine, because the list of instances may be older than the last request.
   * @throws DomainError INSTANCE_NOT_FOUND, BACKEND_UNREACHABLE
   */
  abstract staysOn(ref: InstanceRef): Promise<boolean>;
}
