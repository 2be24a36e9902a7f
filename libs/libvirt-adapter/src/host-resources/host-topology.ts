import { formatCpuSet, type HostNumaNode, type HostTopology, type HugepagePool } from '@headgate/domain-contracts';
import type { LibvirtConnection } from '../connection/libvirt-connection.js';
import { attribute, element, elements, parseXml, text, type XmlElement } from '../xml/xml.js';

const KIB = 1024;

/** The CPUs, NUMA nodes and hugepages of the host. */
export async function readHostTopology({ host }: LibvirtConnection): Promise<HostTopology> {
  const [node, capabilities, { online, offline }] = await Promise.all([
    host.hostname(),
    host.capabilities(),
    host.cpus(),
  ]);
  const cells = cellsOf(capabilities);
  const numaNodes = await Promise.all(cells.map((cell) => numaNode(host, cell)));
  return {
    node,
    cpus: formatCpuSet(online),
    offlineCpus: formatCpuSet(offline),
    numaNodes,
    hugepages: sumOf(numaNodes),
    reservesCpus: false,
  };
}

/** Whether the host can protect its memory from devices. https://libvirt.org/formatcaps.html */
export const hasIommu = (capabilities: string): boolean =>
  attribute(element(hostOf(capabilities), 'iommu'), 'support') === 'yes';

const hostOf = (capabilities: string): XmlElement | undefined =>
  element(element(parseXml(capabilities), 'capabilities'), 'host');

const cellsOf = (capabilities: string): XmlElement[] =>
  elements(element(element(hostOf(capabilities), 'topology'), 'cells'), 'cell');

async function numaNode(host: LibvirtConnection['host'], cell: XmlElement): Promise<HostNumaNode> {
  const id = Number(attribute(cell, 'id') ?? 0);
  const sizes = elements(cell, 'pages')
    .map((pages) => ({ kib: Number(attribute(pages, 'size') ?? 0), total: Number(text(pages) ?? 0) }))
    .sort((a, b) => a.kib - b.kib)
    // The smallest ones are the ordinary pages.
    .slice(1);
  const free = sizes.length === 0 ? [] : await host.freePages(id, sizes.map(({ kib }) => kib)); // prettier-ignore
  const cpus = elements(element(cell, 'cpus'), 'cpu').map((cpu) => Number(attribute(cpu, 'id') ?? 0));
  return {
    id,
    cpus: formatCpuSet(cpus),
    memoryBytes: Number(text(cell, 'memory') ?? 0) * KIB,
    hugepages: sizes.map(({ kib, total }, index) => ({ pageBytes: kib * KIB, total, free: free[index] ?? 0 })),
  };
}

function sumOf(nodes: readonly HostNumaNode[]): HugepagePool[] {
  const pools = new Map<number, HugepagePool>();
  for (const { pageBytes, total, free } of nodes.flatMap(({ hugepages }) => hugepages)) {
    const before = pools.get(pageBytes);
    pools.set(pageBytes, {
      pageBytes,
      total: total + (before?.total ?? 0),
      free: (free ?? 0) + (before?.free ?? 0),
    });
  }
  return [...pools.values()].sort((a, b) => a.pageBytes - b.pageBytes);
}
