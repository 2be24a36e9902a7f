import { randomUUID } from 'node:crypto';
import {
  buildPlan,
  DomainError,
  formatRef,
  throwFirstRefusal,
  type Backend,
  type Caller,
  type DiskBuilder,
  type DiskOrder,
  type InstanceRef,
  type Plan,
  type TaskReporter,
  type TaskRunner,
  type VmSource,
  type VmSpec,
} from '@headgate/domain-contracts';

export type BuiltSource = Extract<VmSource, { kind: 'bootc' }>;

/** A VM whose disk is built before it is created. */
export type BuiltVmSpec = VmSpec & { readonly source: BuiltSource };

export const isBuilt = (spec: VmSpec): spec is BuiltVmSpec => spec.source.kind === 'bootc';

/** Creates VMs from bootable container images: the disk is built first, as a task, and then the VM is created from it. */
export class BuildVm {
  /** The refs of VMs whose disks are being built: the backends don't know them yet. */
  private readonly building = new Set<string>();

  constructor(
    private readonly disks: DiskBuilder,
    private readonly tasks: TaskRunner,
  ) {}

  /** @throws DomainError NOT_SUPPORTED when no disk can be built, and those of `DiskBuilder.plan` */
  async plan(backend: Backend, spec: BuiltVmSpec): Promise<Plan> {
    const available = await this.disks.availability();
    if (available !== true) throw new DomainError('NOT_SUPPORTED', available);
    const { steps, warnings, refusals } = await backend.require('provisioning').planCreate(spec);
    if (refusals.length > 0) return { steps, warnings, refusals };
    this.expectFree(spec.ref);
    return buildPlan([...(await this.disks.plan(orderOf(spec))), ...steps], { warnings });
  }

  /** @returns the ID of the task */
  async start(backend: Backend, spec: BuiltVmSpec, caller: Caller): Promise<string> {
    throwFirstRefusal(await this.plan(backend, spec));
    const key = formatRef(spec.ref);
    this.expectFree(spec.ref);
    this.building.add(key);
    const id = randomUUID();
    return this.tasks.start('bootc', spec.ref, caller, async (report) => {
      try {
        await this.build(id, backend, spec, report);
      } finally {
        this.building.delete(key);
        await this.disks.remove(id);
      }
    });
  }

  private async build(id: string, backend: Backend, spec: BuiltVmSpec, report: TaskReporter): Promise<void> {
    const disk = await this.disks.build(id, orderOf(spec), report);
    report.signal.throwIfAborted();
    report.step('Creating the VM');
    const source: BuiltSource = { ...spec.source, disk };
    const { remaining } = await backend.require('provisioning').create({ ...spec, source });
    await remaining?.(report);
  }

  private expectFree(ref: InstanceRef): void {
    if (this.building.has(formatRef(ref)))
      throw new DomainError('ALREADY_EXISTS', `A VM named ${ref.name} is being built already.`);
  }
}

const orderOf = ({ source: { image, sshKey }, diskBytes }: BuiltVmSpec): DiskOrder => ({ image, diskBytes, sshKey });
