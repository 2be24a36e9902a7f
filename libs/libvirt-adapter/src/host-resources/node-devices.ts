import { attribute, element, elements, parseXml, text, type XmlElement } from '../xml/xml.js';
import { addressOfCapability, type DeviceAddress } from './device-address.js';

/** A device of the host as libvirt describes it. Source: https://libvirt.org/formatnode.html */
export interface NodeDevice {
  readonly name: string;
  readonly parent: string;
  /** Empty for none. */
  readonly driver: string;
  /** `pci`, `usb_device`, `usb`, `mdev`, `storage`, `net`, … */
  readonly type: string;
  readonly capability: XmlElement;
  /** Absent for devices that can't be passed through. */
  readonly address?: DeviceAddress;
  readonly iommuGroup: number | null;
}

/** Drivers that keep a device free for VMs. */
const PASS_THROUGH_DRIVERS = ['', 'vfio-pci', 'pci-stub'];
/** PCI classes: https://pcisig.com, as in Linux's pci_ids.h. */
const CLASS = {
  storage: 0x01,
  network: 0x02,
  memoryController: 0x05,
  bridge: 0x06,
  system: 0x08,
  processor: 0x0b,
  smbus: 0x0c05,
  display: 0x03,
};
const USB_HUB_CLASS = 9;

export function describeNodeDevice(xml: string): NodeDevice | undefined {
  const device = element(parseXml(xml), 'device');
  const capability = element(device, 'capability');
  const name = text(device, 'name');
  if (!device || !capability || name === undefined) return undefined;
  const address = addressOfCapability(capability, name);
  const group = attribute(element(capability, 'iommuGroup'), 'number');
  return {
    name,
    parent: text(device, 'parent') ?? '',
    driver: text(element(device, 'driver'), 'name') ?? '',
    type: attribute(capability, 'type') ?? '',
    capability,
    ...(address && { address }),
    iommuGroup: group === undefined ? null : Number(group),
  };
}

const classOf = ({ capability }: NodeDevice): number => Number(text(capability, 'class') ?? 0) >> 8;

export const isBridge = (device: NodeDevice): boolean => device.type === 'pci' && classOf(device) >> 8 === CLASS.bridge;

export const isGpu = (device: NodeDevice): boolean =>
  device.type === 'mdev' || (device.type === 'pci' && classOf(device) >> 8 === CLASS.display);

/** Whether a driver of the host works with the device. */
export const isHostDriven = ({ driver }: NodeDevice): boolean => !PASS_THROUGH_DRIVERS.includes(driver);

/** Whether the machine itself does not work without the device. */
export function isPlatform(device: NodeDevice): boolean {
  if (device.type !== 'pci') return false;
  const code = classOf(device);
  const { memoryController, bridge, system, processor, smbus } = CLASS;
  return [memoryController, bridge, system, processor].includes(code >> 8) || code === smbus;
}

export const isHub = (device: NodeDevice, children: readonly NodeDevice[]): boolean =>
  device.type === 'usb_device' &&
  children.some(({ type, capability }) => type === 'usb' && Number(text(capability, 'class') ?? 0) === USB_HUB_CLASS);

/** The vendor and the product, as far as the host knows their names. */
export function labelOf({ name, capability, type }: NodeDevice): string {
  if (type === 'mdev') return attribute(element(capability, 'type'), 'id') ?? name;
  const part = (of: string): string => {
    const found = element(capability, of);
    return text(found) ?? (attribute(found, 'id') ?? '').replace(/^0x/, '');
  };
  return [part('vendor'), part('product')].filter((one) => one !== '').join(' ') || name;
}

/**
 * What the host does with a device, such as `the disk /dev/vda`. Not every disk or interface is visible: those of NVMe
 * have another parent, and interfaces may be in the namespace of a container. So a controller that has a driver counts
 * as used.
 * @param behind everything that is behind the device
 */
export function hostUses(
  device: NodeDevice,
  behind: readonly NodeDevice[],
  defaultInterfaces: readonly string[],
): string[] {
  const uses = usesOf([device, ...behind], defaultInterfaces);
  if (uses.length > 0 || device.type !== 'pci' || !isHostDriven(device)) return uses;
  const kind = classOf(device) >> 8;
  if (kind === CLASS.storage) return [`disks with the driver ${device.driver}`];
  const hasInterface = behind.some(({ type }) => type === 'net');
  return kind === CLASS.network && !hasInterface ? [`a network interface with the driver ${device.driver}`] : [];
}

function usesOf(devices: readonly NodeDevice[], defaultInterfaces: readonly string[]): string[] {
  return devices.flatMap(({ type, capability }) => {
    if (type === 'storage') return [`the disk ${text(capability, 'block') ?? ''}`.trimEnd()];
    if (type !== 'net') return [];
    const name = text(capability, 'interface') ?? '';
    if (defaultInterfaces.includes(name)) return [`the network interface ${name}, which has the default route`];
    // An interface that is down carries nothing. Every other state may.
    return attribute(elements(capability, 'link')[0], 'state') === 'down' ? [] : [`the network interface ${name}`];
  });
}

/** The devices by their parents, and everything behind a device. */
export class DeviceTree {
  private readonly children = new Map<string, NodeDevice[]>();

  constructor(readonly devices: readonly NodeDevice[]) {
    for (const device of devices) {
      const siblings = this.children.get(device.parent) ?? [];
      siblings.push(device);
      this.children.set(device.parent, siblings);
    }
  }

  childrenOf({ name }: NodeDevice): readonly NodeDevice[] {
    return this.children.get(name) ?? [];
  }

  /** Without the device itself. */
  behind(device: NodeDevice): NodeDevice[] {
    const found = new Set<NodeDevice>();
    const visit = (one: NodeDevice): void => {
      for (const child of this.childrenOf(one)) {
        if (found.has(child)) continue;
        found.add(child);
        visit(child);
      }
    };
    visit(device);
    return [...found];
  }
}
