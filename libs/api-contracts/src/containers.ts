import { CONTAINER_PHASES, type ContainerPhase } from '@headgate/domain-contracts';
import { IsArray, IsBoolean, IsIn, IsInt, IsISO8601, IsString, Matches, Max, MaxLength, Min } from 'class-validator';
import { BusyView } from './busy.js';
import { IsContextName, IsDiskSize, IsInstanceName, IsMemorySize, Nested, Optional } from './fields.js';
import { UsageView } from './metrics.js';

/** POST /api/cts */
export class CreateContainerDto {
  @IsInstanceName() name!: string;
  @Matches(/^[A-Za-z0-9][A-Za-z0-9._:/@-]*$/, { message: '$property must be an image reference.' })
  @MaxLength(512)
  image!: string;
  @Optional() @IsInstanceName() namespace?: string;
  @Optional() @IsContextName() context?: string;
  @Optional() @IsInt() @Min(1) @Max(512) cpu?: number;
  @Optional() @IsMemorySize() mem?: string;
  /** Size of the data volume. */
  @Optional() @IsDiskSize() disk?: string;
  /** Empty: the cluster's default. */
  @Optional()
  @Matches(/^$|^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/, { message: '$property must be the name of a storage class.' })
  @MaxLength(253)
  storageClass?: string;
  @Optional() @IsBoolean() privileged?: boolean;
}

/** An element of GET /api/cts. */
export class ContainerView {
  @IsString() name!: string;
  @IsString() namespace!: string;
  /** Empty when stopped or unscheduled. */
  @IsString() node!: string;
  @IsIn(CONTAINER_PHASES) phase!: ContainerPhase;
  @IsBoolean() ready!: boolean;
  @IsString() image!: string;
  @IsInt() @Min(0) cpu!: number;
  @IsString() mem!: string;
  @IsBoolean() privileged!: boolean;

  @IsString() ref!: string;
  @IsString() context!: string;
  @IsString() backend!: string;
  @IsArray() @IsString({ each: true }) tags!: string[];
  @Optional() @IsString() reason?: string;
  @Optional() @IsString() folder?: string;
  /** Only while a task changes it or needs it unchanged. */
  @Optional() @Nested(() => BusyView) busy?: BusyView;
  @Optional() @IsISO8601() createdAt?: string;
  @Optional() @IsBoolean() stale?: boolean;
  /** Only in a list with `?usage=true`, and absent while the instance is not measured. */
  @Optional() @Nested(() => UsageView) usage?: UsageView;
}
