import { CONTAINER_PHASES, type ContainerPhase } from '@headgate/domain-contracts';
import { IsArray, IsBoolean, IsIn, IsInt, IsISO8601, IsString, Matches, Max, MaxLength, Min } from 'class-validator';
import { BusyView } from './busy.js';
import {
  IsContextName,
  IsCountText,
  IsDiskSize,
  IsFolderPath,
  IsInstanceName,
  IsMemorySize,
  IsSwitch,
  Nested,
  Optional,
} from './fields.js';
import { UsageView } from './metrics.js';
import { ContextQuery, InstancePath } from './queries.js';

/** POST /api/cts */
export class CreateContainerDto {
  /** The name of the new container, unique in its namespace. */
  @IsInstanceName() name!: string;
  /** The image in a registry; on Incus and LXD an alias or a fingerprint, or `server:image` of a configured server. */
  @Matches(/^[A-Za-z0-9][A-Za-z0-9._:/@-]*$/, { message: '$property must be an image reference.' })
  @MaxLength(512)
  image!: string;
  /** The namespace of the new container. Default: that of the context. */
  @Optional() @IsInstanceName() namespace?: string;
  /** The context of the new container; the first configured one by default. */
  @Optional() @IsContextName() context?: string;
  /** The number of CPUs. Default 1. */
  @Optional() @IsInt() @Min(1) @Max(512) cpu?: number;
  /** The size of the memory. Default `512Mi`. */
  @Optional() @IsMemorySize() mem?: string;
  /** Size of the data volume. */
  @Optional() @IsDiskSize() disk?: string;
  /** The storage class, on Incus and LXD the pool. Empty: the default. */
  @Optional()
  @Matches(/^$|^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/, { message: '$property must be the name of a storage class.' })
  @MaxLength(253)
  storageClass?: string;
  /**
   * Whether the container has a persistent root file system on its data volume, which it may change. Default false: the
   * volume is mounted at `/data`.
   */
  @Optional() @IsBoolean() privileged?: boolean;
  /**
   * The whole path of the folder for the container, which must exist, and in which the caller may change or create
   * instances. With a role in the folder, it is required, and the container is not privileged. If it is removed
   * meanwhile, the container is created without it, and the response has a warning.
   */
  @Optional() @IsFolderPath() folder?: string;
}

/** An element of GET /api/cts. */
export class ContainerView {
  /** The name, unique in its namespace. */
  @IsString() name!: string;
  /** The namespace. */
  @IsString() namespace!: string;
  /** Empty when stopped or unscheduled. */
  @IsString() node!: string;
  /** The phase of the pod, or `Stopped` when there is no pod. */
  @IsIn(CONTAINER_PHASES) phase!: ContainerPhase;
  /** Whether it is ready to serve. */
  @IsBoolean() ready!: boolean;
  /** The image in a registry. */
  @IsString() image!: string;
  /** The number of CPUs. */
  @IsInt() @Min(0) cpu!: number;
  /** The size of the memory, a binary quantity such as `512Mi`. */
  @IsString() mem!: string;
  /** Whether it has a persistent root file system on its data volume. */
  @IsBoolean() privileged!: boolean;

  /** The ref: `ct/<context>/<namespace>/<name>`. */
  @IsString() ref!: string;
  /** The context that it belongs to. */
  @IsString() context!: string;
  /** The kind of the backend. */
  @IsString() backend!: string;
  /** Its tags. */
  @IsArray() @IsString({ each: true }) tags!: string[];
  /** One sentence, when the phase is a problem. */
  @Optional() @IsString() reason?: string;
  /** The folder's whole path; absent if it is in no folder. */
  @Optional() @IsString() folder?: string;
  /** Only while a task changes it or needs it unchanged. */
  @Optional() @Nested(() => BusyView) busy?: BusyView;
  /** When it was created, in ISO 8601. */
  @Optional() @IsISO8601() createdAt?: string;
  /** True for the last known entries of a context that can't be reached. */
  @Optional() @IsBoolean() stale?: boolean;
  /** Only in a list with `?usage=true`, and absent while the instance is not measured. */
  @Optional() @Nested(() => UsageView) usage?: UsageView;
}

/** `{ns}`, `{name}` and `{snap}` of the path of a snapshot of a container. */
export class ContainerSnapshotPath extends InstancePath {
  /** The name of a snapshot of the container. */
  @IsInstanceName() snap!: string;
}

/** POST /api/ext/cts/{ns}/{name}/snapshots */
export class CreateContainerSnapshotDto {
  /** The name of the container and the time if it is absent. */
  @Optional() @IsInstanceName() name?: string;
}

/** POST /api/ext/cts/{ns}/{name}/clone */
export class CloneContainerDto {
  /** The name of the new container, in the namespace of the source. */
  @IsInstanceName() target!: string;
}

/** The most lines of a log in one response. */
export const MAX_LOG_LINES = 100_000;

/** The query of the log of a container. */
export class ContainerLogQuery extends ContextQuery {
  /** Only so many of the last lines. Default 1000. */
  @Optional() @IsCountText(1, MAX_LOG_LINES) tail?: string;
  /** Only lines from this time on, in ISO 8601. A cluster compares whole seconds. */
  @Optional() @IsISO8601({ strict: true }) @MaxLength(40) since?: string;
  /** Whether the response continues with new lines until the container ends. Default false. */
  @Optional() @IsSwitch() follow?: 'true' | 'false';
  /** Whether it is the log of the run before the last restart. Default false. */
  @Optional() @IsSwitch() previous?: 'true' | 'false';
  /** Whether each line begins with its time in RFC 3339 and a space. Default false. */
  @Optional() @IsSwitch() timestamps?: 'true' | 'false';
}
