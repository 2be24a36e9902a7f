import type { InstanceReading } from '@headgate/domain-contracts';
import { parseSample, seriesOf } from './prometheus-text.js';

/** The counters of all disks and all interfaces of a VM. */
export type GuestTraffic = Pick<
  InstanceReading,
  'diskReadBytes' | 'diskWrittenBytes' | 'networkReceivedBytes' | 'networkTransmittedBytes'
>;

export const UNKNOWN_TRAFFIC: GuestTraffic = {
  diskReadBytes: null,
  diskWrittenBytes: null,
  networkReceivedBytes: null,
  networkTransmittedBytes: null,
};

/** https://github.com/kubevirt/monitoring/blob/main/docs/metrics.md: one per `drive` or `interface`. */
const COUNTERS: ReadonlyMap<string, keyof GuestTraffic> = new Map([
  ['kubevirt_vmi_storage_read_traffic_bytes_total', 'diskReadBytes'],
  ['kubevirt_vmi_storage_write_traffic_bytes_total', 'diskWrittenBytes'],
  ['kubevirt_vmi_network_receive_bytes_total', 'networkReceivedBytes'],
  ['kubevirt_vmi_network_transmit_bytes_total', 'networkTransmittedBytes'],
]);

const PREFIX = 'kubevirt_vmi_';

/** Sums the counters of VMs from the lines of one answer of virt-handler. */
export class TrafficSums {
  private readonly sums = new Map<string, Partial<Record<keyof GuestTraffic, number>>>();

  /** Ignores other series. @throws Error for a line that can't be of the format, such as HTML */
  add(line: string): void {
    if (line.startsWith('<')) throw new Error('the answer has no metrics');
    const counter = line.startsWith(PREFIX) ? COUNTERS.get(seriesOf(line) ?? '') : undefined;
    if (!counter) return;
    const sample = parseSample(line);
    if (!sample) throw new Error('a series of a VM is damaged');
    const name = sample.labels.get('name');
    const namespace = sample.labels.get('namespace');
    if (!name || !namespace) return;
    const key = `${namespace}/${name}`;
    const sums = this.sums.get(key) ?? {};
    this.sums.set(key, sums);
    // A disk without a valid value makes the sum unknown: without that disk, it would count backward.
    sums[counter] = (sums[counter] ?? 0) + (sample.value >= 0 ? sample.value : Number.NaN);
  }

  /** By `namespace/name`. */
  result(): ReadonlyMap<string, GuestTraffic> {
    const entries = [...this.sums].map(([key, sums]): [string, GuestTraffic] => {
      const valid = Object.entries(sums).filter(([, value]) => Number.isFinite(value));
      return [key, { ...UNKNOWN_TRAFFIC, ...Object.fromEntries(valid) }];
    });
    return new Map(entries);
  }
}
