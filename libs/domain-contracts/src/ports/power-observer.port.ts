import type { VirtualMachine } from '../model/instance.js';
import type { PowerAction, PowerOptions } from './instance-power.port.js';

/** Observes the power actions of users, such as to measure how long guests take to shut down. */
export abstract class PowerObserver {
  /**
   * Runs an action on a VM, and observes its beginning and its failure.
   * @returns when the backend has accepted the action
   * @throws what the action throws
   */
  abstract observe(
    vm: VirtualMachine,
    action: PowerAction,
    options: PowerOptions,
    run: () => Promise<void>,
  ): Promise<void>;
}
