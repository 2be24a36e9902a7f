import {
  formatCpuSet,
  isCpuSet,
  parseCpuSet,
  type CpuPinning,
  type GuestCell,
  type Placement,
} from '@headgate/domain-contracts';
import { attribute, element, elements, type XmlElement } from '../xml/xml.js';

const KIB = 1024;
const UNITS: Readonly<Record<string, number>> = {
  b: 1,
  bytes: 1,
  KiB: KIB,
  k: KIB,
  MiB: KIB ** 2,
  M: KIB ** 2,
  GiB: KIB ** 3,
  G: KIB ** 3,
};
/** The size of pages for which a domain names none, on the architectures that the service knows. */
const DEFAULT_HUGEPAGE_BYTES = 2 * KIB ** 2;

/** The placement that one XML document of a domain describes. */
export function readPlacement(domain: XmlElement): Placement {
  const pages = element(element(domain, 'memoryBacking'), 'hugepages');
  const page = element(pages, 'page');
  return {
    dedicated: null,
    pinning: readPinning(domain),
    hugepageBytes: pages ? (bytesOf(attribute(page, 'size'), attribute(page, 'unit')) ?? DEFAULT_HUGEPAGE_BYTES) : null,
  };
}

function readPinning(domain: XmlElement): CpuPinning {
  const tune = element(domain, 'cputune');
  const memory = element(element(domain, 'numatune'), 'memory');
  const cells = elements(element(element(domain, 'cpu'), 'numa'), 'cell').map(readCell);
  return {
    vcpus: elements(tune, 'vcpupin')
      .map((pin) => ({ vcpu: Number(attribute(pin, 'vcpu') ?? 0), cpus: attribute(pin, 'cpuset') ?? '' }))
      .sort((a, b) => a.vcpu - b.vcpu),
    emulatorCpus: attribute(element(tune, 'emulatorpin'), 'cpuset') ?? '',
    memory: memory
      ? { mode: attribute(memory, 'mode') ?? 'strict', nodes: attribute(memory, 'nodeset') ?? 'auto' }
      : null,
    // One node is the same as none: the service gives it to every VM that can get more memory.
    cells: cells.length > 1 ? cells : [],
  };
}

const readCell = (cell: XmlElement): GuestCell => ({
  cpus: attribute(cell, 'cpus') ?? '',
  memoryBytes: bytesOf(attribute(cell, 'memory'), attribute(cell, 'unit')) ?? 0,
});

const bytesOf = (amount: string | undefined, unit = 'KiB'): number | undefined =>
  amount === undefined ? undefined : Number(amount) * (UNITS[unit] ?? KIB);

/** Settings that a change would lose, because this service does not know them. */
export function foreignNumaSettings(domain: XmlElement): string[] {
  const cells = elements(element(element(domain, 'cpu'), 'numa'), 'cell');
  const known = ['@id', '@cpus', '@memory', '@unit'];
  return [
    ...(elements(element(domain, 'numatune'), 'memnode').length > 0 ? ['memory of its own for each NUMA node'] : []),
    ...(cells.some((cell) => Object.keys(cell).some((name) => !known.includes(name)))
      ? ['distances or other settings of NUMA nodes']
      : []),
    ...(elements(element(domain, 'devices'), 'memory').length > 0 ? ['memory modules'] : []),
  ];
}

/** Pins in one notation, without those to all CPUs of the host, which are none. @param online of the host */
export function effectivePins(
  { vcpus, emulatorCpus }: CpuPinning,
  online: string,
): Pick<CpuPinning, 'vcpus' | 'emulatorCpus'> {
  const normal = (cpus: string): string => {
    const text = isCpuSet(cpus) ? formatCpuSet(parseCpuSet(cpus, '')) : cpus;
    return text === online ? '' : text;
  };
  return {
    vcpus: vcpus.map(({ vcpu, cpus }) => ({ vcpu, cpus: normal(cpus) })).filter(({ cpus }) => cpus !== ''),
    emulatorCpus: normal(emulatorCpus),
  };
}

/** The text of pins for people, such as `0 on 2-3, 1 on 4`. */
export const describePins = (pins: CpuPinning['vcpus']): string =>
  pins.map(({ vcpu, cpus }) => `${vcpu} on ${cpus}`).join(', ');

export const describeMemory = ({ memory }: CpuPinning): string => (memory ? `${memory.mode} ${memory.nodes}` : '');
