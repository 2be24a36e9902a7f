import { formatBytes, formatCpuSet, isCpuSet, parseCpuSet, type Refusal } from '@headgate/domain-contracts';
import type { DomainDescription } from '../domain-xml/domain-description.js';
import { readPlacement } from '../hardware/read-placement.js';
import { readHostTopology } from '../host-resources/host-topology.js';
import type { MigrationHost } from './migration-host.js';

/** CPUs, NUMA nodes and pages to which the guest is bound, and which the destination does not have. */
export async function placementRefusals(
  { name, document, memoryBytes }: DomainDescription,
  { context, connection }: MigrationHost,
): Promise<Refusal[]> {
  const { pinning, hugepageBytes } = readPlacement(document);
  const pins = [...(pinning?.vcpus ?? []).map(({ cpus }) => cpus), pinning?.emulatorCpus ?? ''].flatMap(numbersOf);
  const nodes = numbersOf(pinning?.memory?.nodes ?? '');
  if (pins.length === 0 && nodes.length === 0 && hugepageBytes === null) return [];
  const host = await readHostTopology(connection);
  const online = new Set(numbersOf(host.cpus));
  const cpus = pins.filter((cpu) => !online.has(cpu));
  const missingNodes = nodes.filter((node) => !host.numaNodes.some(({ id }) => id === node));
  const pool = host.hugepages.find(({ pageBytes }) => pageBytes === hugepageBytes);
  const pages = hugepageBytes === null ? 0 : Math.ceil(memoryBytes / hugepageBytes);
  const freePages = pool?.free ?? pool?.total ?? 0;
  return [
    ...(cpus.length === 0 ? [] : [`is pinned to CPU ${formatCpuSet(cpus)}`]),
    ...(missingNodes.length === 0 ? [] : [`takes its memory from NUMA node ${formatCpuSet(missingNodes)}`]),
    ...(freePages >= pages ? [] : [`needs ${pages} free pages of ${formatBytes(hugepageBytes ?? 0)}`]),
  ].map((what) => ({
    code: 'WRONG_STATE',
    reason: `${name} ${what}, which ${context} does not have.`,
    remedy: 'Change the placement of the VM first, or choose another node.',
  }));
}

/** Other tools may use notations that this service does not read: libvirt checks them. */
const numbersOf = (cpus: string): number[] => (isCpuSet(cpus) ? parseCpuSet(cpus, 'cpus') : []);
