import type { DomainSpec } from './domain-spec.js';
import type { XmlElement } from '../xml/xml.js';

/** The features, CPU and clock of a new domain. */
export const domainPlatform = (spec: DomainSpec): XmlElement => ({
  features: features(spec),
  cpu: cpu(spec),
  clock: clock(spec),
});

/** The enlightenments for Windows, in the order of the schema, with their settings. */
const HYPERV: readonly (readonly [name: string, settings: XmlElement])[] = [
  ['relaxed', {}],
  ['vapic', {}],
  ['spinlocks', { '@retries': '8191' }],
  ['vpindex', {}],
  ['runtime', {}],
  ['synic', {}],
  ['stimer', { direct: { '@state': 'on' } }],
  ['reset', {}],
  ['frequencies', {}],
  ['tlbflush', {}],
  ['ipi', {}],
];
/** Enlightenments that QEMU accepts only together with others. */
const HYPERV_REQUIREMENTS: Readonly<Record<string, readonly string[]>> = {
  synic: ['vpindex'],
  stimer: ['vpindex', 'synic'],
  tlbflush: ['vpindex'],
  ipi: ['vpindex'],
};

function features({ arch, firmware, guest, features: { hyperv } }: DomainSpec): XmlElement {
  const isX86 = arch === 'x86_64';
  const isAvailable = (name: string): boolean =>
    hyperv.includes(name) && (HYPERV_REQUIREMENTS[name] ?? []).every((other) => hyperv.includes(other));
  const enlightenments = HYPERV.filter(([name]) => isAvailable(name));
  return {
    acpi: '',
    ...(isX86 && { apic: '' }),
    ...(usesHyperv({ arch, guest }) &&
      enlightenments.length > 0 && {
        hyperv: {
          '@mode': 'custom',
          ...Object.fromEntries(enlightenments.map(([name, settings]) => [name, { '@state': 'on', ...settings }])),
        },
      }),
    // Protects the variables of the firmware from the guest's kernel.
    ...(isX86 && firmware === 'uefi-secure' && { smm: { '@state': 'on' } }),
  };
}

const usesHyperv = ({ arch, guest }: Pick<DomainSpec, 'arch' | 'guest'>): boolean =>
  arch === 'x86_64' && guest.family === 'windows';

/** Desktop editions of Windows use no more than two sockets, so all CPUs are cores of one. */
function cpu({ accelerator, maxCpu, memoryBytes, maxMemoryBytes }: DomainSpec): XmlElement {
  return {
    // Under emulation the guest gets every CPU feature QEMU can emulate: current distributions need more than the
    // baseline.
    ...(accelerator === 'kvm' ? { '@mode': 'host-passthrough', '@migratable': 'on' } : { '@mode': 'maximum' }),
    topology: { '@sockets': '1', '@dies': '1', '@cores': String(maxCpu), '@threads': '1' },
    // Memory can be added only to a NUMA node.
    ...(maxMemoryBytes !== undefined && {
      numa: {
        cell: { '@id': '0', '@cpus': cpuRange(maxCpu), '@memory': String(memoryBytes / 1024), '@unit': 'KiB' },
      },
    }),
  };
}

const cpuRange = (count: number): string => (count === 1 ? '0' : `0-${count - 1}`);

/** The timers of other architectures need no settings. */
function clock({ arch, accelerator, guest, features: { hyperv } }: DomainSpec): XmlElement {
  const isWindows = guest.family === 'windows';
  return {
    // Windows expects the local time in the hardware clock.
    '@offset': isWindows ? 'localtime' : 'utc',
    timer:
      arch !== 'x86_64'
        ? []
        : [
            { '@name': 'rtc', '@tickpolicy': 'catchup' },
            { '@name': 'pit', '@tickpolicy': 'delay' },
            // With KVM, guests have better clocks, and this one wakes the host often. Under emulation it is the best
            // one.
            ...(accelerator === 'kvm' ? [{ '@name': 'hpet', '@present': 'no' }] : []),
            ...(isWindows && accelerator === 'kvm' && hyperv.length > 0
              ? [{ '@name': 'hypervclock', '@present': 'yes' }]
              : []),
          ],
  };
}
