import { loss, type Firmware, type Loss, type PortableNic, type Refusal } from '@headgate/domain-contracts';
import type { DomainDescription } from '../domain-xml/domain-description.js';
import { attribute, element, elements, type XmlElement } from '../xml/xml.js';

/** Devices that a new VM of another backend does not get. */
const DROPPED_DEVICES: readonly (readonly [element: string, label: string])[] = [
  ['sound', 'The sound card.'],
  ['redirdev', 'The redirection of USB devices.'],
  ['smartcard', 'The smart card reader.'],
  ['hub', 'The USB hub.'],
  ['panic', 'The device that reports crashes of the guest.'],
];
/** Settings of libvirt that a new VM of another backend does not get. */
const DROPPED_SETTINGS: readonly (readonly [element: string, label: string])[] = [
  ['cputune', 'The CPU tuning of libvirt.'],
  ['numatune', 'The NUMA tuning of libvirt.'],
  ['memtune', 'The memory tuning of libvirt.'],
  ['blkiotune', 'The I/O tuning of libvirt.'],
  ['memoryBacking', 'The memory backing of libvirt.'],
  ['qemu:commandline', 'The additional arguments of QEMU.'],
];
/** Devices of the machine, or shared with it. */
const PASSED_THROUGH: readonly (readonly [element: string, label: string])[] = [
  ['hostdev', 'a device of the machine that is passed through'],
  ['filesystem', 'a folder of the machine'],
  ['shmem', 'memory that is shared with the machine'],
];

export interface DomainPlatformReading {
  readonly firmware: Firmware;
  readonly tpm: boolean;
  readonly nics: readonly PortableNic[];
  readonly refusals: readonly Refusal[];
  readonly losses: readonly Loss[];
}

/** The virtual machine around the disks of a domain, by what every backend has. */
export function describePlatform({ name, document, nics }: DomainDescription): DomainPlatformReading {
  const devices = element(document, 'devices');
  const has = (of: XmlElement | undefined, child: string): boolean => elements(of, child).length > 0;
  const firmware = firmwareOf(element(document, 'os'));
  const tpm = has(devices, 'tpm');
  const refusals = PASSED_THROUGH.filter(([child]) => has(devices, child)).map(([, label]): Refusal => ({
    code: 'NOT_SUPPORTED',
    reason: `${name} has ${label}.`,
    remedy: 'Remove the device from the VM.',
  }));
  if (nics.some(({ type }) => type === 'hostdev'))
    refusals.push({
      code: 'NOT_SUPPORTED',
      reason: `${name} has a network card of the machine that is passed through.`,
      remedy: 'Replace it by a card on a network.',
    });
  return {
    firmware,
    tpm,
    nics: nics.map(({ mac, type, source, model }, index) => ({
      name: `nic${index}`,
      // The other end of user-mode networking is no network.
      network: type === 'user' ? '' : source,
      mac,
      model,
    })),
    refusals,
    losses: [
      ...DROPPED_DEVICES.filter(([child]) => has(devices, child)).map(([, label]) => loss('devices', label)),
      ...DROPPED_SETTINGS.filter(([child]) => has(document, child)).map(([, label]) => loss('tuning', label, 'info')),
    ],
  };
}

function firmwareOf(os: XmlElement | undefined): Firmware {
  const loader = element(os, 'loader');
  if (attribute(os, 'firmware') !== 'efi' && attribute(loader, 'type') !== 'pflash') return 'bios';
  const isEnabled = (feature: string): boolean =>
    elements(element(os, 'firmware'), 'feature').some(
      (one) => attribute(one, 'name') === feature && attribute(one, 'enabled') === 'yes',
    );
  return attribute(loader, 'secure') === 'yes' || isEnabled('enrolled-keys') ? 'uefi-secure' : 'uefi';
}
