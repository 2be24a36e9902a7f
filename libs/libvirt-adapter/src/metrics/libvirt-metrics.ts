import {
  ResourceMetrics,
  type Clock,
  type InstanceReading,
  type NodeReading,
  type ResourceReadings,
} from '@headgate/domain-contracts';
import type { DomainStatistics, StatisticFields } from '../connection/domain-operations.js';
import type { LibvirtConnection } from '../connection/libvirt-connection.js';
import type { DomainFinder } from '../domains/domain-finder.js';

/** Older statistics of a guest's balloon driver are not of its present. The host's clock may differ from this one. */
const MAX_BALLOON_AGE_S = 300;

/** The usage that libvirt and QEMU measure. Their counters start from zero again when a domain is started. */
export class LibvirtMetrics extends ResourceMetrics {
  constructor(
    private readonly connection: LibvirtConnection,
    private readonly finder: Pick<DomainFinder, 'refOf'>,
    private readonly clock: Clock,
  ) {
    super();
  }

  override async read(): Promise<ResourceReadings> {
    const [domains, node] = await Promise.all([this.connection.domains.statistics(), this.node()]);
    return { instances: domains.map((domain) => this.toReading(domain)), nodes: [node] };
  }

  private async node(): Promise<NodeReading> {
    const { host } = this.connection;
    const [name, usage] = await Promise.all([host.hostname(), host.usage()]);
    return { name, cpuMillicores: null, ...usage };
  }

  private toReading({ id, fields }: DomainStatistics): InstanceReading {
    const cpuTimeNs = amount(fields, 'cpu.time');
    return {
      ref: this.finder.refOf(id),
      cpuTimeMs: cpuTimeNs === null ? null : cpuTimeNs / 1e6,
      cpuMillicores: null,
      ...memoryOf(fields, this.clock.now() / 1000),
      diskReadBytes: sum(fields, 'block', 'rd.bytes'),
      diskWrittenBytes: sum(fields, 'block', 'wr.bytes'),
      networkReceivedBytes: sum(fields, 'net', 'rx.bytes'),
      networkTransmittedBytes: sum(fields, 'net', 'tx.bytes'),
    };
  }
}

type Memory = Pick<InstanceReading, 'memoryUsedBytes' | 'memoryTotalBytes'>;

/**
 * The memory in use as the guest sees it, without its caches, if its balloon driver reports that and if it is
 * plausible: a guest may report anything. Otherwise the memory of the QEMU process.
 */
export function memoryOf(fields: StatisticFields, nowSeconds: number): Memory {
  const current = amount(fields, 'balloon.current');
  const available = amount(fields, 'balloon.available');
  const free = amount(fields, 'balloon.usable') ?? amount(fields, 'balloon.unused');
  const updated = amount(fields, 'balloon.last-update') ?? 0;
  const isRecent = Math.abs(nowSeconds - updated) <= MAX_BALLOON_AGE_S;
  const isPlausible =
    current !== null && available !== null && free !== null && free <= available && available <= current;
  const used = isRecent && isPlausible ? available - free : amount(fields, 'balloon.rss');
  return { memoryUsedBytes: inBytes(used), memoryTotalBytes: inBytes(current) };
}

const inBytes = (kib: number | null): number | null => (kib === null ? null : kib * 1024);

/** The sum over all disks or interfaces; null if none has the value. */
function sum(fields: StatisticFields, group: 'block' | 'net', field: string): number | null {
  let total: number | null = null;
  const count = amount(fields, `${group}.count`) ?? 0;
  for (let index = 0; index < Math.min(count, MAX_DEVICES); index++) {
    const value = amount(fields, `${group}.${index}.${field}`);
    if (value !== null) total = (total ?? 0) + value;
  }
  return total;
}

/** More than a domain can have. */
const MAX_DEVICES = 4096;

function amount(fields: StatisticFields, name: string): number | null {
  const value = fields.get(name);
  return typeof value === 'number' && value >= 0 && Number.isFinite(value) ? value : null;
}
