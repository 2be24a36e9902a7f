import { cpus } from 'node:os';
import { text } from 'node:stream/consumers';
import {
  DomainError,
  ResourceMetrics,
  type InstanceReading,
  type InstanceRef,
  type NodeReading,
  type ResourceReadings,
} from '@headgate/domain-contracts';
import type { IncusApi } from '../api/incus-api.js';
import type { InstanceFinder } from '../engine/instance-finder.js';
import { refOf } from '../engine/api-names.js';
import { parseMetrics, type Sample } from './parse-metrics.js';

/** The extension that `/1.0/metrics` came with. */
const EXTENSION = 'metrics';
/** The device of a guest's own traffic with itself. */
const LOOPBACK = 'lo';
const RUNNING = 'Running';

interface MemoryObject {
  readonly memory: { readonly used: number };
}

/**
 * The usage that the server measures, with three requests for all instances. The server measures every 8 s at most, and
 * in a cluster only the instances of the member that answers.
 */
export class IncusMetrics extends ResourceMetrics {
  /** @param project the only project of the context; absent: all of them */
  constructor(
    private readonly api: IncusApi,
    private readonly finder: Pick<InstanceFinder, 'all'>,
    private readonly project?: string,
  ) {
    super();
  }

  override async read(): Promise<ResourceReadings> {
    await this.api.requireExtension(EXTENSION, 'measure the use of instances');
    const [samples, instances, node] = await Promise.all([this.samples(), this.finder.all(), this.node()]);
    const byInstance = Map.groupBy(samples, ({ labels }) => keyOf(labels.project ?? '', labels.name ?? ''));
    // The server still shows for seconds what has stopped meanwhile.
    const running = instances.filter(({ status }) => status === RUNNING);
    return {
      instances: running.flatMap((instance) => {
        const group = byInstance.get(keyOf(instance.project, instance.name));
        return group ? [readingOf(refOf(this.api.context, instance), group)] : [];
      }),
      nodes: [node],
    };
  }

  private async samples(): Promise<readonly Sample[]> {
    const response = await this.api.stream('/1.0/metrics', { query: { project: this.project } });
    const all = parseMetrics(await text(response).catch((cause: unknown) => this.broken(cause)));
    return all.filter(
      ({ labels }) => labels.name !== undefined && labels.project !== undefined && labels.type !== undefined,
    );
  }

  private broken(cause: unknown): never {
    throw new DomainError('BACKEND_UNREACHABLE', `${this.api.context}: the server has closed its metrics early.`, {
      cause,
    });
  }

  private async node(): Promise<NodeReading> {
    const [{ environment }, { memory }] = await Promise.all([
      this.api.server(),
      this.api.get<MemoryObject>('/1.0/resources'),
    ]);
    const name = environment?.server_name ?? this.api.context;
    // The API has no CPU use of the machine.
    const cpuTimeMs = this.api.isLocal ? cpuTimeOfThisMachine() : null;
    return { name, cpuTimeMs, cpuMillicores: null, memoryUsedBytes: memory.used };
  }
}

const keyOf = (project: string, name: string): string => `${project}/${name}`;

const cpuTimeOfThisMachine = (): number =>
  cpus().reduce((total, { times: { user, nice, sys, irq } }) => total + user + nice + sys + irq, 0);

function readingOf(ref: InstanceRef, samples: readonly Sample[]): InstanceReading {
  const cpuSeconds = sum(samples, 'cpu_seconds_total', ({ mode }) => mode !== 'idle');
  const total = sum(samples, 'memory_MemTotal_bytes');
  const available = sum(samples, 'memory_MemAvailable_bytes');
  const isTraffic = ({ device }: Sample['labels']): boolean => device !== LOOPBACK;
  return {
    ref,
    cpuTimeMs: cpuSeconds === null ? null : cpuSeconds * 1000,
    cpuMillicores: null,
    memoryUsedBytes: total === null || available === null ? null : Math.max(0, total - available),
    memoryTotalBytes: total,
    diskReadBytes: sum(samples, 'disk_read_bytes_total'),
    diskWrittenBytes: sum(samples, 'disk_written_bytes_total'),
    networkReceivedBytes: sum(samples, 'network_receive_bytes_total', isTraffic),
    networkTransmittedBytes: sum(samples, 'network_transmit_bytes_total', isTraffic),
  };
}

/** The sum over all CPUs, disks or cards; null if none has the value. */
function sum(
  samples: readonly Sample[],
  name: string,
  counts: (labels: Sample['labels']) => boolean = () => true,
): number | null {
  const values = samples.filter((sample) => sample.name === name && counts(sample.labels));
  return values.length === 0 ? null : values.reduce((total, { value }) => total + value, 0);
}
