import { IsArray, IsIn, IsInt, IsString, MaxLength, Min } from 'class-validator';
import { Nested, Optional } from './fields.js';

/** POST /api/ext/cloud-init/check */
export class CheckCloudInitDto {
  /** cloud-init user data, as for POST /api/vms. */
  @IsString() @MaxLength(262_144) userData!: string;
  /** A network configuration of cloud-init, of version 1 or 2. */
  @Optional() @IsString() @MaxLength(65_536) networkConfig?: string;
}

export const CLOUD_INIT_PARTS = ['userData', 'networkConfig'] as const;
export const CLOUD_INIT_SEVERITIES = ['error', 'warning'] as const;

/** A problem of a text for cloud-init. */
export class CloudInitProblemView {
  /** The field of the request that has it. */
  @IsIn(CLOUD_INIT_PARTS) part!: (typeof CLOUD_INIT_PARTS)[number];
  /** `error`: cloud-init ignores the text, or the module that reads this part. */
  @IsIn(CLOUD_INIT_SEVERITIES) severity!: (typeof CLOUD_INIT_SEVERITIES)[number];
  /** One sentence. */
  @IsString() message!: string;
  /** The number of the line, from 1 on. */
  @IsInt() @Min(1) line!: number;
  /** The number of the column in the line, from 1 on. */
  @IsInt() @Min(1) column!: number;
}

/** The answer of the check. */
export class CloudInitCheckView {
  /** In the order of the lines. Empty if nothing was found. */
  @IsArray() @Nested(() => CloudInitProblemView, { each: true }) problems!: CloudInitProblemView[];
}
