import type { UsageView } from '@headgate/api-contracts';
import type { Usage } from '@headgate/metrics';

/** The JSON value of a usage. A group without any value is null as a whole. */
export const presentUsage = (usage: Usage): UsageView => ({
  cpu: usage.cpuMillicores,
  memory: group({ usedBytes: usage.memoryUsedBytes, totalBytes: usage.memoryTotalBytes }),
  disk: group({
    readBytesPerSecond: usage.diskReadBytesPerSecond,
    writeBytesPerSecond: usage.diskWriteBytesPerSecond,
  }),
  network: group({
    receiveBytesPerSecond: usage.networkReceiveBytesPerSecond,
    transmitBytesPerSecond: usage.networkTransmitBytesPerSecond,
  }),
});

export const NO_USAGE: UsageView = { cpu: null, memory: null, disk: null, network: null };

const group = <T extends Readonly<Record<string, number | null>>>(values: T): T | null =>
  Object.values(values).some((value) => value !== null) ? values : null;
