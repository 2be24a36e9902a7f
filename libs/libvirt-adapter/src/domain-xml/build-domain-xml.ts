import { machineOf } from '../host/hypervisor-features.js';
import { domainDevices } from './domain-devices.js';
import { domainPlatform } from './domain-platform.js';
import type { DomainSpec } from './domain-spec.js';
import { INSTANCE_PREFIX, INSTANCE_XMLNS, metadataElement } from './instance-metadata.js';
import { formatXml, type XmlElement } from '../xml/xml.js';

/** Slots for memory that is added to the running VM. */
const MEMORY_SLOTS = 16;

/** The XML of a new domain. https://libvirt.org/formatdomain.html */
export function buildDomainXml(spec: DomainSpec): string {
  const { name, uuid, metadata, accelerator, features } = spec;
  return formatXml({
    domain: {
      '@type': accelerator === 'kvm' ? 'kvm' : 'qemu',
      name,
      uuid,
      metadata: {
        [`${INSTANCE_PREFIX}:instance`]: {
          [`@xmlns:${INSTANCE_PREFIX}`]: INSTANCE_XMLNS,
          ...metadataElement(metadata),
        },
      },
      ...memory(spec),
      ...vcpus(spec),
      ...(features.hasIoThreads && { iothreads: '1' }),
      os: firmware(spec),
      ...domainPlatform(spec),
      on_poweroff: 'destroy',
      on_reboot: 'restart',
      on_crash: 'destroy',
      devices: domainDevices(spec),
    },
  });
}

const memory = ({ memoryBytes, maxMemoryBytes }: DomainSpec): XmlElement => ({
  ...(maxMemoryBytes !== undefined && {
    maxMemory: { '@slots': String(MEMORY_SLOTS), '@unit': 'b', '#text': String(maxMemoryBytes) },
  }),
  memory: { '@unit': 'b', '#text': String(memoryBytes) },
});

const vcpus = ({ cpu, maxCpu }: DomainSpec): XmlElement => ({
  vcpu: maxCpu === cpu ? String(cpu) : { '@current': String(cpu), '#text': String(maxCpu) },
});

/** libvirt chooses the firmware image from the descriptions that the distribution installs. */
function firmware({ arch, firmware, nvram }: DomainSpec): XmlElement {
  const type: XmlElement = { '@arch': arch, '@machine': machineOf(arch), '#text': 'hvm' };
  if (firmware === 'bios') return { type };
  const isSecure = firmware === 'uefi-secure';
  const enabled = isSecure ? 'yes' : 'no';
  return {
    '@firmware': 'efi',
    type,
    // Without enrolled keys, a firmware with Secure Boot starts any loader.
    firmware: {
      feature: [
        { '@enabled': enabled, '@name': 'secure-boot' },
        { '@enabled': enabled, '@name': 'enrolled-keys' },
      ],
    },
    ...(isSecure && { loader: { '@secure': 'yes' } }),
    ...(nvram !== undefined && { nvram }),
  };
}
