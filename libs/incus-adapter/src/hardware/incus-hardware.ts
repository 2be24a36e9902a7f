import {
  InstanceHardware,
  refusal,
  refusedChange,
  throwFirstRefusal,
  type Hardware,
  type HardwareChange,
  type HardwarePlan,
  type HardwareResult,
  type InstanceRef,
  type PlannedChange,
} from '@headgate/domain-contracts';
import type { InstanceObject } from '../api/incus-objects.js';
import type { IncusEngine } from '../engine/incus-engine.js';
import { instanceNotFound } from '../engine/instance-finder.js';
import { Machines } from './machines.js';
import { readHardware } from './read-hardware.js';
import type { Restarts } from './restarts.js';
import { planScale } from './scale.js';

/** The limits of containers. Their devices are shown, and changed with the tools of the server. */
export class IncusHardware extends InstanceHardware {
  private readonly machines: Machines;

  constructor(
    private readonly engine: IncusEngine,
    private readonly restarts: Restarts,
  ) {
    super();
    this.machines = new Machines(engine.api);
  }

  override async read(ref: InstanceRef): Promise<Hardware> {
    return readHardware(this.engine.api, this.machines, await this.find(ref));
  }

  override async plan(ref: InstanceRef, change: HardwareChange): Promise<HardwarePlan> {
    return (await this.prepare(ref, change)).plan;
  }

  override async apply(ref: InstanceRef, change: HardwareChange): Promise<HardwareResult> {
    const { plan, run } = await this.prepare(ref, change);
    throwFirstRefusal(plan);
    await run();
    return { effect: plan.effect };
  }

  private async prepare(ref: InstanceRef, change: HardwareChange): Promise<PlannedChange> {
    const { engine, machines, restarts } = this;
    const found = await this.find(ref);
    if (change.kind === 'scale') return planScale({ engine, machines, restarts }, ref, found, change);
    const reason = `${change.kind}: only the CPUs and the memory of containers of ${ref.context} can be changed here.`;
    return refusedChange(refusal('NOT_SUPPORTED', reason, 'Use the tools of Incus or LXD.'));
  }

  private async find(ref: InstanceRef): Promise<InstanceObject> {
    const found = await this.engine.finder.find(ref);
    if (found.type === 'container') return found;
    throw instanceNotFound(ref);
  }
}
