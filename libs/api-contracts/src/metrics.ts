import { IsBoolean, IsIn, IsInt, IsString, Min } from 'class-validator';
import { Nested, Nullable, Optional } from './fields.js';
import { ContextQuery } from './queries.js';

/** The memory that an instance uses. */
export class MemoryUsageView {
  /** The used memory in bytes; null if it is unknown. */
  @Nullable() @IsInt() @Min(0) usedBytes!: number | null;
  /** The size of the memory in bytes; null if it is unknown. */
  @Nullable() @IsInt() @Min(0) totalBytes!: number | null;
}

/** The speed at which an instance uses its disks. */
export class DiskUsageView {
  /** Bytes read per second; null if it is unknown. */
  @Nullable() @IsInt() @Min(0) readBytesPerSecond!: number | null;
  /** Bytes written per second; null if it is unknown. */
  @Nullable() @IsInt() @Min(0) writeBytesPerSecond!: number | null;
}

/** The speed at which an instance uses its interfaces. */
export class NetworkUsageView {
  /** Bytes received per second; null if it is unknown. */
  @Nullable() @IsInt() @Min(0) receiveBytesPerSecond!: number | null;
  /** Bytes sent per second; null if it is unknown. */
  @Nullable() @IsInt() @Min(0) transmitBytesPerSecond!: number | null;
}

/** What an instance uses. Values that are unknown are null. */
export class UsageView {
  /** Millicores: 1000 is one CPU. */
  @Nullable() @IsInt() @Min(0) cpu!: number | null;
  /** The memory; null if nothing about it is known. */
  @Nullable() @Nested(() => MemoryUsageView) memory!: MemoryUsageView | null;
  /** All disks together. */
  @Nullable() @Nested(() => DiskUsageView) disk!: DiskUsageView | null;
  /** All interfaces together. */
  @Nullable() @Nested(() => NetworkUsageView) network!: NetworkUsageView | null;
}

/** GET /api/vms/{ns}/{name}/metrics */
export class MetricsView extends UsageView {
  /** When the values were measured, in milliseconds since the epoch. */
  @Optional() @IsInt() t?: number;
  /** Why the context has no values, in one sentence. */
  @Optional() @IsString() reason?: string;
}

/** An element of GET /api/vms/{ns}/{name}/metrics/history */
export class MetricsSampleView extends UsageView {
  /** Milliseconds since the epoch. */
  @IsInt() t!: number;
}

export const HISTORY_RANGES = ['1h', '24h', '7d', '30d'] as const;

/** How far back a history goes. */
export type HistoryRange = (typeof HISTORY_RANGES)[number];

/** The query of GET /api/ext/vms/{ns}/{name}/metrics/history. */
export class HistoryQuery extends ContextQuery {
  /** How far back the history goes. `1h` by default. */
  @Optional() @IsIn(HISTORY_RANGES) range?: HistoryRange;
}

/** The averages of one step. Values that are unknown are null. */
export class UsageStepView extends UsageView {
  /** When the step began, in milliseconds since the epoch; the time of the sample for `1h`. */
  @IsInt() t!: number;
  /** The largest values of the step. */
  @Nested(() => UsageView) max!: UsageView;
  /** Whether the step was invented for the past of a simulated cluster. Absent for one that was measured. */
  @Optional() @IsBoolean() simulated?: boolean;
}

/** GET /api/ext/vms/{ns}/{name}/metrics/history */
export class UsageHistoryView {
  /** How far back the history goes. */
  @IsIn(HISTORY_RANGES) range!: HistoryRange;
  /** When the range begins, in milliseconds since the epoch. */
  @IsInt() from!: number;
  /** When the range ends, in milliseconds since the epoch. */
  @IsInt() to!: number;
  /** The time from the beginning of one step to that of the next, in milliseconds. */
  @IsInt() @Min(1) stepMs!: number;
  /** When the first step of the range that was measured began, in milliseconds since the epoch. Absent without any. */
  @Optional() @IsInt() recordedSince?: number;
  /** Oldest first, at most 720. Steps in which nothing was measured are left out. */
  @Nested(() => UsageStepView, { each: true }) points!: UsageStepView[];
}

/** An amount of the resources of a node. Values that are unknown are null. */
export class NodeResourcesView {
  /** Millicores: 1000 is one CPU. */
  @Nullable() @IsInt() @Min(0) cpu!: number | null;
  /** The memory in bytes. */
  @Nullable() @IsInt() @Min(0) memoryBytes!: number | null;
}
