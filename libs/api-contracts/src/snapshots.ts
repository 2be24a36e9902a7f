import { SNAPSHOT_PHASES, type SnapshotPhase } from '@headgate/domain-contracts';
import { IsBoolean, IsIn, IsISO8601, IsString } from 'class-validator';
import { StatusView } from './answers.js';
import { IsInstanceName, Optional } from './fields.js';
import { InstancePath } from './queries.js';

/** `{ns}`, `{name}` and `{snap}` of a path. */
export class SnapshotPath extends InstancePath {
  /** The name of a snapshot of the VM. */
  @IsInstanceName() snap!: string;
}

/** An element of GET /api/vms/{ns}/{name}/snapshots. */
export class SnapshotView {
  /** The name of the snapshot. */
  @IsString() name!: string;
  /** The phase. */
  @IsIn(SNAPSHOT_PHASES) phase!: SnapshotPhase;
  /** When the content was saved, or when the snapshot was requested while it is in progress, in ISO 8601. */
  @IsISO8601() creationTime!: string;
  /** Whether it can be restored now. */
  @IsBoolean() ready!: boolean;
  /** One sentence about a snapshot that failed or can't be restored yet. */
  @Optional() @IsString() reason?: string;
  /** Whether the memory of the guest was saved as well: a restore lets the guest continue from that moment. */
  @Optional() @IsBoolean() memory?: boolean;
}

/** POST /api/vms/{ns}/{name}/snapshots */
export class CreateSnapshotDto {
  /** The name of the VM and the time if it is absent. */
  @Optional() @IsInstanceName() name?: string;
  /** Also saves the memory of the running guest. Backends that can't refuse it. Default false. */
  @Optional() @IsBoolean() memory?: boolean;
}

/** The response to a new snapshot. */
export class CreatedSnapshotView {
  /** The name of the snapshot. */
  @IsString() name!: string;
  /** The task that follows the snapshot to its end, if that takes time. */
  @Optional() @IsString() task?: string;
}

/** An action was accepted; the task continues it, if there is one. */
export class ContinuedView extends StatusView {
  /** The ID of the task that continues it; absent if it has ended. */
  @Optional() @IsString() task?: string;
}

/** POST /api/vms/{ns}/{name}/clone */
export class CloneVmDto {
  /** The name of the new VM, in the namespace of the source. */
  @IsInstanceName() target!: string;
}

/** The response to a clone. */
export class ClonedView {
  /** The name of the new VM. */
  @IsString() target!: string;
  /** The ref of the new VM. */
  @IsString() ref!: string;
  /** The task that completes the clone, if that takes time. */
  @Optional() @IsString() task?: string;
}

/** POST /api/vms/{ns}/{name}/template */
export class TemplateDto {
  /** Whether the VM is a template: it can be cloned but not started. */
  @IsBoolean() on!: boolean;
}

/** Whether a VM is a template. */
export class TemplateView {
  /** Whether it is a template: it can be cloned but not started. */
  @IsBoolean() isTemplate!: boolean;
}
