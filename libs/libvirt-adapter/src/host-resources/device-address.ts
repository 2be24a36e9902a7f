import type { HostDeviceKind } from '@headgate/domain-contracts';
import { attribute, element, elements, text, type XmlElement } from '../xml/xml.js';

/** How libvirt identifies a device of the host. */
export type DeviceAddress =
  | {
      readonly kind: 'pci';
      readonly domain: number;
      readonly bus: number;
      readonly slot: number;
      readonly function: number;
    }
  | {
      readonly kind: 'usb';
      readonly vendor: number;
      readonly product: number;
      /**
       * Absent where a domain takes any device of the vendor and product. The number changes whenever the device is
       * plugged in.
       */
      readonly port?: { readonly bus: number; readonly device: number };
    }
  | { readonly kind: 'mdev'; readonly uuid: string };

const hex = (value: number, digits: number): string => value.toString(16).padStart(digits, '0');

/** The name of a device in a domain. That of a PCI or mediated device is also the host's. */
export function addressName(address: DeviceAddress): string {
  switch (address.kind) {
    case 'pci': {
      const { domain, bus, slot, function: number } = address;
      return `pci_${hex(domain, 4)}_${hex(bus, 2)}_${hex(slot, 2)}_${number}`;
    }
    case 'usb': {
      const { vendor, product, port } = address;
      return `usb_${hex(vendor, 4)}_${hex(product, 4)}${port ? `_${port.bus}_${port.device}` : ''}`;
    }
    case 'mdev':
      return `mdev_${address.uuid.replaceAll('-', '_')}`;
  }
}

export function isSameDevice(one: DeviceAddress, other: DeviceAddress): boolean {
  if (one.kind !== 'usb' || other.kind !== 'usb') return addressName(one) === addressName(other);
  const { port: here } = one;
  const { port: there } = other;
  if (one.vendor !== other.vendor || one.product !== other.product) return false;
  return !here || !there || (here.bus === there.bus && here.device === there.device);
}

/** The element that passes the device through. libvirt takes it from its driver on the host, and gives it back. */
export function hostdevElement(address: DeviceAddress): XmlElement {
  const base = { '@mode': 'subsystem', '@type': address.kind };
  switch (address.kind) {
    case 'pci':
      return { ...base, '@managed': 'yes', source: { address: pciAddress(address) } };
    case 'usb': {
      const { vendor, product, port } = address;
      return {
        ...base,
        '@managed': 'yes',
        source: {
          vendor: { '@id': `0x${hex(vendor, 4)}` },
          product: { '@id': `0x${hex(product, 4)}` },
          ...(port && { address: { '@bus': String(port.bus), '@device': String(port.device) } }),
        },
      };
    }
    case 'mdev':
      return { ...base, '@model': 'vfio-pci', source: { address: { '@uuid': address.uuid } } };
  }
}

const pciAddress = (address: Extract<DeviceAddress, { kind: 'pci' }>): XmlElement => ({
  '@domain': `0x${hex(address.domain, 4)}`,
  '@bus': `0x${hex(address.bus, 2)}`,
  '@slot': `0x${hex(address.slot, 2)}`,
  '@function': `0x${address.function}`,
});

/** @returns undefined for devices that this service does not pass through, such as a SCSI device */
export function addressOfHostdev(hostdev: XmlElement): DeviceAddress | undefined {
  const source = element(hostdev, 'source');
  const address = element(source, 'address');
  switch (attribute(hostdev, 'type') as HostDeviceKind | undefined) {
    case 'pci':
      return pciOf(address, attribute);
    case 'usb': {
      const [vendor, product] = [element(source, 'vendor'), element(source, 'product')];
      const port = address && {
        bus: Number(attribute(address, 'bus') ?? 0),
        device: Number(attribute(address, 'device') ?? 0),
      };
      if (!vendor && !port) return undefined;
      return {
        kind: 'usb',
        vendor: Number(attribute(vendor, 'id') ?? 0),
        product: Number(attribute(product, 'id') ?? 0),
        ...(port && { port }),
      };
    }
    case 'mdev': {
      const uuid = attribute(address, 'uuid');
      return uuid === undefined ? undefined : { kind: 'mdev', uuid };
    }
    default:
      return undefined;
  }
}

/** The numbers are attributes in the XML of a domain, and elements in that of a node device. */
function pciOf(
  of: XmlElement | undefined,
  read: (of: XmlElement | undefined, name: string) => string | undefined,
): DeviceAddress | undefined {
  const [domain, bus, slot, number] = ['domain', 'bus', 'slot', 'function'].map((name) => Number(read(of, name) ?? 0));
  return of && { kind: 'pci', domain: domain ?? 0, bus: bus ?? 0, slot: slot ?? 0, function: number ?? 0 };
}

/** @param capability of a node device @param name of the node device */
export function addressOfCapability(capability: XmlElement, name: string): DeviceAddress | undefined {
  switch (attribute(capability, 'type')) {
    case 'pci':
      return pciOf(capability, text);
    case 'usb_device':
      return {
        kind: 'usb',
        vendor: Number(attribute(element(capability, 'vendor'), 'id') ?? 0),
        product: Number(attribute(element(capability, 'product'), 'id') ?? 0),
        port: { bus: Number(text(capability, 'bus') ?? 0), device: Number(text(capability, 'device') ?? 0) },
      };
    case 'mdev': {
      const parts = /^mdev_([0-9a-f]{8})_([0-9a-f]{4})_([0-9a-f]{4})_([0-9a-f]{4})_([0-9a-f]{12})/.exec(name);
      const uuid = text(capability, 'uuid') ?? parts?.slice(1).join('-');
      return uuid === undefined ? undefined : { kind: 'mdev', uuid };
    }
    default:
      return undefined;
  }
}

/** The devices of the host that a domain has: devices that are passed through, and network cards that are. */
export function addressesOfDomain(domain: XmlElement): DeviceAddress[] {
  const devices = element(domain, 'devices');
  const cards = elements(devices, 'interface').filter((card) => attribute(card, 'type') === 'hostdev');
  return [
    ...elements(devices, 'hostdev').flatMap((hostdev) => addressOfHostdev(hostdev) ?? []),
    ...cards.flatMap((card) => pciOf(element(element(card, 'source'), 'address'), attribute) ?? []),
  ];
}
