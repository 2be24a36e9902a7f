import type { InstanceRef } from '../values/instance-ref.js';

/** CPU use. An engine has either a counter or a current rate; the other one is null. */
export interface CpuReading {
  /** The CPU time used so far. It starts from zero again when the guest or the node restarts. */
  readonly cpuTimeMs: number | null;
  /** The current use: 1000 is one CPU. */
  readonly cpuMillicores: number | null;
}

/**
 * The resources that one running instance uses. A value that the engine does not have is null, and so is one that it
 * can't read at the moment, as libvirt while a job occupies the guest. Disk and network values are counters of all
 * disks and all interfaces, which start from zero again when the guest restarts or migrates.
 */
export interface InstanceReading extends CpuReading {
  readonly ref: InstanceRef;
  readonly memoryUsedBytes: number | null;
  readonly memoryTotalBytes: number | null;
  readonly diskReadBytes: number | null;
  readonly diskWrittenBytes: number | null;
  readonly networkReceivedBytes: number | null;
  readonly networkTransmittedBytes: number | null;
}

/** The resources in use on one node, by the name that `ClusterInventory` gives it. */
export interface NodeReading extends CpuReading {
  readonly name: string;
  readonly memoryUsedBytes: number | null;
}

export interface ResourceReadings {
  /** One per running instance that the engine has measured; a new instance may be missing for a while. */
  readonly instances: readonly InstanceReading[];
  readonly nodes: readonly NodeReading[];
}

/** Reads the resource usage of all running instances and of all nodes of a backend. */
export abstract class ResourceMetrics {
  /**
   * The cost is a few requests per host or namespace, never one per instance.
   * @throws DomainError BACKEND_UNREACHABLE, BACKEND_TIMEOUT, BACKEND_FORBIDDEN; NOT_SUPPORTED when the engine
   *   lacks the component that measures, with the name of that component
   */
  abstract read(): Promise<ResourceReadings>;
}
