import { IsBoolean, IsInt, IsISO8601, IsString, Min } from 'class-validator';
import { IsInstanceName, Optional } from './fields.js';
import { InstancePath } from './queries.js';

/** `{ns}`, `{name}` and `{checkpoint}` of a path. */
export class CheckpointPath extends InstancePath {
  /** The name of a checkpoint of the VM. */
  @IsInstanceName() checkpoint!: string;
}

/** An element of GET /api/ext/vms/{ns}/{name}/checkpoints. */
export class CheckpointView {
  /** The name of the checkpoint. */
  @IsString() name!: string;
  /** When it was created, in ISO 8601. */
  @IsISO8601() creationTime!: string;
  /** Whether the changes since then can be exported now. */
  @IsBoolean() ready!: boolean;
  /** One sentence about a checkpoint that is not ready. */
  @Optional() @IsString() reason?: string;
  /** How many bytes of the disk have changed since then. Absent if it is not known. */
  @Optional() @IsInt() @Min(0) changedBytes?: number;
}
