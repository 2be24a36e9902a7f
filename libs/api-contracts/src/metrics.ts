import { IsInt, IsString, Min } from 'class-validator';
import { Nested, Nullable, Optional } from './fields.js';

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

/** An amount of the resources of a node. Values that are unknown are null. */
export class NodeResourcesView {
  /** Millicores: 1000 is one CPU. */
  @Nullable() @IsInt() @Min(0) cpu!: number | null;
  /** The memory in bytes. */
  @Nullable() @IsInt() @Min(0) memoryBytes!: number | null;
}
