import {
  formatRef,
  isRunningStatus,
  isVm,
  ResourceMetrics,
  type Instance,
  type InstanceReading,
  type ResourceReadings,
} from '@headgate/domain-contracts';
import type { MemoryEngine } from './memory-engine.js';

/**
 * Each reading adds the same amount to the counters of a running instance. A test may replace the readings of an
 * instance.
 */
export class MemoryMetrics extends ResourceMetrics {
  private readonly readingsOf = new Map<string, number>();
  private nodeReadings = 0;

  constructor(private readonly engine: MemoryEngine) {
    super();
  }

  override async read(): Promise<ResourceReadings> {
    this.engine.expectReachable();
    this.nodeReadings++;
    const running = this.engine.all().filter(isRunning);
    const refs = new Set(running.map(({ ref }) => formatRef(ref)));
    for (const ref of this.readingsOf.keys()) if (!refs.has(ref)) this.readingsOf.delete(ref);
    return {
      instances: running.map((instance) => this.readingOf(instance)),
      nodes: this.engine.nodes.map(({ name }) => ({
        name,
        cpuTimeMs: this.nodeReadings * 30_000,
        cpuMillicores: null,
        memoryUsedBytes: 8 * 1024 ** 3,
      })),
    };
  }

  private readingOf({ ref, memoryBytes }: Instance): InstanceReading {
    const key = formatRef(ref);
    const count = (this.readingsOf.get(key) ?? 0) + 1;
    this.readingsOf.set(key, count);
    return {
      ref,
      cpuTimeMs: count * 7500,
      cpuMillicores: null,
      memoryUsedBytes: memoryBytes / 4,
      memoryTotalBytes: memoryBytes,
      diskReadBytes: count * 150_000,
      diskWrittenBytes: count * 75_000,
      networkReceivedBytes: count * 30_000,
      networkTransmittedBytes: count * 15_000,
      ...this.engine.readings.get(key),
    };
  }
}

const isRunning = (instance: Instance): boolean =>
  isVm(instance) ? isRunningStatus(instance.status) : instance.phase === 'Running';
