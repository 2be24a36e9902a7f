import { IsInt, IsString, Min } from 'class-validator';
import { Nested, Nullable, Optional } from './fields.js';

export class MemoryUsageView {
  @Nullable() @IsInt() @Min(0) usedBytes!: number | null;
  @Nullable() @IsInt() @Min(0) totalBytes!: number | null;
}

export class DiskUsageView {
  @Nullable() @IsInt() @Min(0) readBytesPerSecond!: number | null;
  @Nullable() @IsInt() @Min(0) writeBytesPerSecond!: number | null;
}

export class NetworkUsageView {
  @Nullable() @IsInt() @Min(0) receiveBytesPerSecond!: number | null;
  @Nullable() @IsInt() @Min(0) transmitBytesPerSecond!: number | null;
}

/** What an instance uses. Values that are unknown are null. */
export class UsageView {
  /** Millicores: 1000 is one CPU. */
  @Nullable() @IsInt() @Min(0) cpu!: number | null;
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

/** An amount of the resources of a node. Values that are unknown are null. */
export class NodeResourcesView {
  /** Millicores: 1000 is one CPU. */
  @Nullable() @IsInt() @Min(0) cpu!: number | null;
  @Nullable() @IsInt() @Min(0) memoryBytes!: number | null;
}
