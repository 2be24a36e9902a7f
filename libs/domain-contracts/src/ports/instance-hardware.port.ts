import type { Hardware, HardwareChange, HardwarePlan, HardwareResult } from '../model/hardware.js';
import type { InstanceRef } from '../values/instance-ref.js';

/** Reads and changes the virtual hardware of VMs. */
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
}
