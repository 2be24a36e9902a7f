import type { Hardware, HardwareChange, HardwarePlan, HardwareResult } from '../model/hardware.js';
import {
  inOrder,
  withOneRestart,
  type HardwareChangeGroup,
  type PlannedHardwareChange,
} from '../model/hardware-changes.js';
import type { InstanceRef } from '../values/instance-ref.js';

/** Reads and changes the virtual hardware of VMs, and the limits of containers. */
export abstract class InstanceHardware {
  /** @throws DomainError INSTANCE_NOT_FOUND, BACKEND_UNREACHABLE */
  abstract read(ref: InstanceRef): Promise<Hardware>;

  /**
   * Changes nothing. The plan contains every refusal that the backend can foresee, and says when the change takes
   * effect.
   * @throws DomainError INSTANCE_NOT_FOUND, BACKEND_UNREACHABLE
   */
  abstract plan(ref: InstanceRef, change: HardwareChange): Promise<HardwarePlan>;

  /**
   * Carries out the plan of the same change. A change that is refused has no effect at all; one that fails later leaves
   * nothing incomplete behind, and no volume is lost.
   * @throws DomainError the first refusal of the plan; BACKEND_TIMEOUT when the guest does not release a device or does
   *   not stop in
   * time, after which the VM is as it was
   */
  abstract apply(ref: InstanceRef, change: HardwareChange): Promise<HardwareResult>;

  /**
   * Plans several changes of one request, which must be about different parts of the hardware, without changing
   * anything. The groups are in the order in which they are carried out, and each is all or nothing. By default, each
   * change is a group of its own. A backend that can make several changes in one step puts them into one group.
   * @throws DomainError INSTANCE_NOT_FOUND, BACKEND_UNREACHABLE
   */
  async planAll(ref: InstanceRef, changes: readonly HardwareChange[]): Promise<readonly HardwareChangeGroup[]> {
    const planned: PlannedHardwareChange[] = [];
    for (const one of inOrder(changes)) planned.push({ ...one, plan: await this.plan(ref, one.change) });
    const once = await withOneRestart(planned, (change) => this.plan(ref, change));
    return once.map((one) => [one]);
  }

  /**
   * Carries out the changes of one group of `planAll`, in their order, all of them or none.
   * @returns the results in the order of the changes
   * @throws DomainError as `apply`
   */
  async applyGroup(ref: InstanceRef, changes: readonly HardwareChange[]): Promise<readonly HardwareResult[]> {
    const results: HardwareResult[] = [];
    for (const change of changes) results.push(await this.apply(ref, change));
    return results;
  }
}
