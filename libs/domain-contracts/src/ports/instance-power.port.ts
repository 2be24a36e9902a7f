import type { InstanceRef } from '../values/instance-ref.js';

export const POWER_ACTIONS = ['start', 'stop', 'restart', 'pause', 'unpause'] as const;
export type PowerAction = (typeof POWER_ACTIONS)[number];

export interface PowerOptions {
  /** Pulls the plug instead of asking the guest. Means something for `stop` and `restart` only. */
  readonly force?: boolean;
}

/** Turns VMs on and off. Asking for the state that an instance is already in is no error. */
export abstract class InstancePower {
  /**
   * Returns when the backend has accepted the action; a graceful stop goes on in the guest.
   * @throws DomainError INSTANCE_NOT_FOUND, WRONG_STATE (such as restart of a stopped VM), BUSY, BACKEND_UNREACHABLE
   */
  abstract apply(ref: InstanceRef, action: PowerAction, options?: PowerOptions): Promise<void>;
}
