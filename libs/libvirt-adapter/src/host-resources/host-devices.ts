import { refusal, type HostDevice, type Refusal } from '@headgate/domain-contracts';
import type { LibvirtConnection } from '../connection/libvirt-connection.js';
import { describeDomain, type DomainDescription } from '../domain-xml/domain-description.js';
import type { DomainFinder } from '../domains/domain-finder.js';
import { LOCAL_NAMESPACE } from '../domains/instance-name.js';
import { addressesOfDomain, isSameDevice, type DeviceAddress } from './device-address.js';
import { hasIommu } from './host-topology.js';
import {
  describeNodeDevice,
  DeviceTree,
  hostUses,
  isBridge,
  isGpu,
  isHostDriven,
  isHub,
  isPlatform,
  labelOf,
  type NodeDevice,
} from './node-devices.js';

export interface HostDevicesDeps {
  readonly connection: LibvirtConnection;
  readonly finder: DomainFinder;
  /** The interfaces of the machine that have a default route; none where the machine is not this one. */
  readonly defaultInterfaces: () => Promise<readonly string[]>;
}

/** A VM that has devices of the host. */
interface DeviceUser {
  readonly uuid: string;
  readonly name: string;
  readonly addresses: readonly DeviceAddress[];
}

/** A device that libvirt can pass through, if nothing speaks against it. */
export interface CheckedDevice {
  readonly device: NodeDevice & { readonly address: DeviceAddress };
  /** UUIDs of the domains that have it or get it at their next start. */
  readonly users: readonly DeviceUser[];
  /** Why the host itself can't do without the device, or can't hand it over. */
  readonly refusals: readonly Refusal[];
}

/** The devices of the host, at one moment. */
export class HostDevices {
  private constructor(
    private readonly node: string,
    private readonly tree: DeviceTree,
    private readonly users: readonly DeviceUser[],
    private readonly hasIommu: boolean,
    private readonly defaultInterfaces: readonly string[],
  ) {}

  static async read({ connection, finder, defaultInterfaces }: HostDevicesDeps): Promise<HostDevices> {
    const [node, capabilities, documents, domains, interfaces] = await Promise.all([
      connection.host.hostname(),
      connection.host.capabilities(),
      connection.host.devices(),
      finder.all().then((ids) => connection.domains.documents(ids)),
      defaultInterfaces(),
    ]);
    const devices = documents.map(describeNodeDevice).filter((device) => device !== undefined);
    const users = domains.map(({ id, xml, persistentXml = xml }) => ({
      uuid: id.uuid,
      name: finder.refOf(id).name,
      addresses: [xml, persistentXml].flatMap(addressesIn),
    }));
    return new HostDevices(node, new DeviceTree(devices), users, hasIommu(capabilities), interfaces);
  }

  all(): CheckedDevice[] {
    return this.tree.devices.flatMap((device) => this.check(device) ?? []);
  }

  find(name: string): CheckedDevice | undefined {
    const device = this.tree.devices.find((one) => one.name === name);
    return device && this.check(device);
  }

  /** How many devices of the host an address matches. */
  count(address: DeviceAddress): number {
    return this.tree.devices.filter((one) => one.address && isSameDevice(one.address, address)).length;
  }

  present(): HostDevice[] {
    return this.all()
      .map(({ device, users, refusals }) => ({
        name: device.name,
        node: this.node,
        kind: device.address.kind,
        label: labelOf(device),
        isGpu: isGpu(device),
        driver: device.driver,
        iommuGroup: device.iommuGroup,
        total: 1,
        usedBy: users.map(({ name }) => `${LOCAL_NAMESPACE}/${name}`),
        refusal: refusals[0]?.reason ?? (users.length === 0 ? null : inUse(device, users).reason),
      }))
      .sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  private check(device: NodeDevice): CheckedDevice | undefined {
    const { address } = device;
    if (!address) return undefined;
    return { device: { ...device, address }, users: this.usersOf(address), refusals: this.refusalsOf(device) };
  }

  private usersOf(address: DeviceAddress): DeviceUser[] {
    return this.users.filter(({ addresses }) => addresses.some((one) => isSameDevice(one, address)));
  }

  private refusalsOf(device: NodeDevice): Refusal[] {
    const { name } = device;
    if (isPlatform(device) || isHub(device, this.tree.childrenOf(device))) {
      const what = isBridge(device) ? 'a bridge' : device.type === 'pci' ? 'a part of the machine itself' : 'a USB hub';
      return [refusal('WRONG_STATE', `${name} is ${what}, without which ${this.node} does not work.`, 'Choose another device.')]; // prettier-ignore
    }
    const uses = hostUses(device, this.tree.behind(device), this.defaultInterfaces);
    if (uses.length > 0) {
      const remedy =
        'Make sure that nothing needs it, and take it away from the host: set a network interface down, or use `virsh nodedev-detach`.';
      return [refusal('WRONG_STATE', `${this.node} uses ${name}: it has ${uses.join(' and ')}.`, remedy)];
    }
    return device.type === 'pci' ? this.iommuRefusals(device) : [];
  }

  /** Without the IOMMU, or together with a device of the host, a guest could read and write the memory of the host. */
  private iommuRefusals({ name, iommuGroup }: NodeDevice): Refusal[] {
    if (!this.hasIommu || iommuGroup === null) {
      const reason = this.hasIommu ? `${name} is in no IOMMU group` : `${this.node} has no active IOMMU`;
      const remedy =
        'Enable VT-d or AMD-Vi in the firmware, and start Linux with intel_iommu=on where the processor is from Intel.';
      return [refusal('NOT_SUPPORTED', `${reason}, so that ${name} can't be passed through safely.`, remedy)];
    }
    const mates = this.tree.devices.filter(
      (one) => one.type === 'pci' && one.iommuGroup === iommuGroup && one.name !== name && !isBridge(one),
    );
    const driven = mates.filter(isHostDriven);
    if (driven.length > 0) {
      const names = driven.map((one) => `${one.name} (${one.driver})`).join(', ');
      return [
        refusal(
          'WRONG_STATE',
          `${name} shares the IOMMU group ${iommuGroup} with ${names}, which ${this.node} uses.`,
          `Take them away from the host: ${driven.map((one) => `\`virsh nodedev-detach ${one.name}\``).join(', ')}.`,
        ),
      ];
    }
    return [];
  }

  /** Devices of the same IOMMU group that other domains have: no two processes can open one group. */
  matesInUse(device: NodeDevice, uuid: string): { readonly mate: string; readonly user: string }[] {
    if (device.iommuGroup === null) return [];
    return this.tree.devices.flatMap((mate) => {
      if (!mate.address || mate.iommuGroup !== device.iommuGroup || mate.name === device.name) return [];
      return this.usersOf(mate.address)
        .filter((user) => user.uuid !== uuid)
        .map((user) => ({ mate: mate.name, user: user.name }));
    });
  }
}

export const inUse = ({ name }: NodeDevice, users: readonly { readonly name: string }[]): Refusal =>
  refusal('BUSY', `${name} is used by ${users.map((user) => user.name).join(', ')}.`, 'Detach it from that VM first.');

/** A domain that can't be read has no devices that the service knows of. */
function addressesIn(xml: string): DeviceAddress[] {
  let description: DomainDescription;
  try {
    description = describeDomain(xml);
  } catch {
    return [];
  }
  return addressesOfDomain(description.document);
}
