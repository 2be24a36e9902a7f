import type { LibvirtConnection } from '../connection/libvirt-connection.js';
import { DomainFinder } from '../domains/domain-finder.js';
import { foreignDomainXml, UUID } from '../testing/domain-xml.js';
import {
  childOf,
  diskOf,
  interfaceOf,
  mediatedDevice,
  pciDevice,
  usbDevice,
  usbInterface,
} from '../testing/node-devices.js';
import { addressesOfDomain, hostdevElement } from './device-address.js';
import { HostDevices } from './host-devices.js';
import { describeDomain } from '../domain-xml/domain-description.js';
import { formatXml } from '../xml/xml.js';

const MDEV = '4b20d080-1b54-4048-85b3-a6a62d165c01';
const STORAGE = '0x010802';
const NETWORK = '0x020000';
const SECOND = '7d5ad5f8-6a0f-4f8c-9fd5-0a0ad3c1d2b1';

interface SimulatedHost {
  readonly devices: readonly string[];
  readonly hasIommu?: boolean;
  readonly defaultInterfaces?: readonly string[];
  /** The devices of domains by their names. */
  readonly domains?: Readonly<Record<string, string>>;
}

const read = ({ devices, hasIommu = true, defaultInterfaces = [], domains = {} }: SimulatedHost) => {
  const ids = Object.keys(domains).map((name, index) => ({ name, uuid: index === 0 ? UUID : SECOND }));
  const connection = {
    host: {
      hostname: async () => 'host-1',
      capabilities: async () =>
        `<capabilities><host><iommu support='${hasIommu ? 'yes' : 'no'}'/></host></capabilities>`,
      devices: async () => [...devices],
    },
    domains: {
      list: async () => ids,
      documents: async () =>
        ids.map((id) => ({
          id,
          xml: foreignDomainXml({ ...id, disks: domains[id.name] }),
        })),
    },
  } as unknown as LibvirtConnection;
  const finder = new DomainFinder('local', connection);
  return HostDevices.read({ connection, finder, defaultInterfaces: async () => defaultInterfaces });
};
const reasonOf = async (host: SimulatedHost, name: string): Promise<string | null | undefined> =>
  (await read(host)).present().find((device) => device.name === name)?.refusal;
const hostdev = (bus: string): string =>
  `<hostdev mode='subsystem' type='pci' managed='yes'><source><address domain='0x0000' bus='0x${bus}' slot='0x00' function='0x0'/></source></hostdev>`;

describe('the devices of a host', () => {
  test('are passed through if the host does not need them', async () => {
    const card = pciDevice({ address: '03:00.0', iommuGroup: 12, driver: 'vfio-pci' });
    const [device] = (await read({ devices: [card] })).present();
    expect(device).toEqual({
      name: 'pci_0000_03_00_0',
      node: 'host-1',
      kind: 'pci',
      label: 'NVIDIA Corporation TU104GL [Tesla T4]',
      isGpu: true,
      driver: 'vfio-pci',
      iommuGroup: 12,
      total: 1,
      usedBy: [],
      refusal: null,
    });
  });

  test.each<[title: string, host: SimulatedHost, reason: RegExp]>([
    [
      'the controller of the root disk',
      { devices: [pciDevice({ address: '03:00.0', classCode: STORAGE, driver: 'ahci', iommuGroup: 1 }), childOf('pci_0000_03_00_0', 'scsi_host0'), diskOf('scsi_host0', 'sda')] }, // prettier-ignore
      /host-1 uses pci_0000_03_00_0: it has the disk \/dev\/sda/,
    ],
    [
      'a controller whose disks have another parent, as with NVMe multipath',
      { devices: [pciDevice({ address: '03:00.0', classCode: STORAGE, driver: 'nvme', iommuGroup: 1 }), diskOf('computer', 'nvme0n1')] }, // prettier-ignore
      /it has disks with the driver nvme/,
    ],
    [
      'the NIC with the default route, also without a cable',
      {
        devices: [pciDevice({ address: '03:00.0', classCode: NETWORK, driver: 'igb', iommuGroup: 1 }), interfaceOf('pci_0000_03_00_0', 'eth0', 'down')], // prettier-ignore
        defaultInterfaces: ['eth0'],
      },
      /the network interface eth0, which has the default route/,
    ],
    [
      'a NIC that is up',
      { devices: [pciDevice({ address: '03:00.0', classCode: NETWORK, driver: 'igb', iommuGroup: 1 }), interfaceOf('pci_0000_03_00_0', 'eth1', 'up')] }, // prettier-ignore
      /it has the network interface eth1/,
    ],
    [
      'a NIC in an unknown state',
      { devices: [pciDevice({ address: '03:00.0', classCode: NETWORK, driver: 'virtio-pci', iommuGroup: 1 }), interfaceOf('pci_0000_03_00_0', 'eth1', 'unknown')] }, // prettier-ignore
      /it has the network interface eth1/,
    ],
    [
      'a NIC whose interface is in the namespace of a container',
      { devices: [pciDevice({ address: '03:00.0', classCode: NETWORK, driver: 'igb', iommuGroup: 1 })] },
      /a network interface with the driver igb/,
    ],
    [
      'a USB controller with a disk behind it',
      { devices: [pciDevice({ address: '03:00.0', classCode: '0x0c0330', driver: 'xhci_hcd', iommuGroup: 1 }), childOf('pci_0000_03_00_0', 'usb_usb1'), usbDevice('usb_1_2', 1, 2), diskOf('usb_1_2', 'sdb')] }, // prettier-ignore
      /it has the disk \/dev\/sdb/,
    ],
    [
      'a host bridge',
      { devices: [pciDevice({ address: '03:00.0', classCode: '0x060000', iommuGroup: 1 })] },
      /is a bridge/,
    ],
    ['a root port', { devices: [pciDevice({ address: '03:00.0', classCode: '0x060400', driver: 'pcieport', iommuGroup: 1 })] }, /is a bridge/], // prettier-ignore
    [
      'an ISA bridge',
      { devices: [pciDevice({ address: '03:00.0', classCode: '0x060100', iommuGroup: 1 })] },
      /is a bridge/,
    ],
    ['the SMBus', { devices: [pciDevice({ address: '03:00.0', classCode: '0x0c0500', iommuGroup: 1 })] }, /a part of the machine/], // prettier-ignore
    ['an interrupt controller', { devices: [pciDevice({ address: '03:00.0', classCode: '0x080020', iommuGroup: 1 })] }, /a part of the machine/], // prettier-ignore
    ['anything without an IOMMU', { devices: [pciDevice({ address: '03:00.0' })], hasIommu: false }, /host-1 has no active IOMMU/], // prettier-ignore
    ['anything outside of an IOMMU group', { devices: [pciDevice({ address: '03:00.0' })] }, /is in no IOMMU group/],
    [
      'a device in a group with others of the host, which it lists',
      {
        devices: [
          pciDevice({ address: '03:00.0', iommuGroup: 7 }),
          pciDevice({ address: '03:00.1', iommuGroup: 7, driver: 'snd_hda_intel' }),
          pciDevice({ address: '03:00.2', iommuGroup: 7, driver: 'xhci_hcd' }),
          pciDevice({ address: '00:01.0', iommuGroup: 7, driver: 'pcieport', classCode: '0x060400' }),
          pciDevice({ address: '04:00.0', iommuGroup: 8, driver: 'ahci' }),
        ],
      },
      /^pci_0000_03_00_0 shares the IOMMU group 7 with pci_0000_03_00_1 \(snd_hda_intel\), pci_0000_03_00_2 \(xhci_hcd\), which host-1 uses\.$/,
    ],
  ])('are not passed through: %s', async (_title, host, reason) => {
    expect(await reasonOf(host, 'pci_0000_03_00_0')).toMatch(reason);
    const [refusal] = (await read(host)).find('pci_0000_03_00_0')?.refusals ?? [];
    expect(refusal?.remedy).not.toBe('');
  });

  test('of one group are passed through when the host drives none of them', async () => {
    const devices = [
      pciDevice({ address: '03:00.0', iommuGroup: 7, driver: 'nouveau' }),
      pciDevice({ address: '03:00.1', iommuGroup: 7, driver: 'vfio-pci' }),
      pciDevice({ address: '00:01.0', iommuGroup: 7, driver: 'pcieport', classCode: '0x060400' }),
    ];
    expect(await reasonOf({ devices }, 'pci_0000_03_00_0')).toBeNull();
  });

  test('with an interface that is down are passed through', async () => {
    const card = pciDevice({ address: '03:00.0', classCode: NETWORK, driver: 'igb', iommuGroup: 1 });
    const devices = [card, interfaceOf('pci_0000_03_00_0', 'eth1', 'down')];
    expect(await reasonOf({ devices, defaultInterfaces: ['eth0'] }, 'pci_0000_03_00_0')).toBeNull();
  });

  test('belong to the VMs that name them, also as network cards and while these are stopped', async () => {
    const devices = ['03', '04', '05'].map((bus) =>
      pciDevice({ address: `${bus}:00.0`, iommuGroup: Number(bus), driver: 'vfio-pci' }),
    );
    const card = "<interface type='hostdev'><source><address type='pci' domain='0x0000' bus='0x04' slot='0x00' function='0x0'/></source></interface>"; // prettier-ignore
    const found = (await read({ devices, domains: { one: hostdev('03'), two: card } })).present();
    expect(found.map(({ usedBy, refusal }) => [usedBy, refusal])).toEqual([
      [['local/one'], 'pci_0000_03_00_0 is used by one.'],
      [['local/two'], 'pci_0000_04_00_0 is used by two.'],
      [[], null],
    ]);
  });

  test('of one group belong to one VM', async () => {
    const devices = [
      pciDevice({ address: '03:00.0', iommuGroup: 7, driver: 'vfio-pci' }),
      pciDevice({ address: '04:00.0', iommuGroup: 7, driver: 'vfio-pci' }),
    ];
    const found = await read({ devices, domains: { one: hostdev('03') } });
    const other = found.find('pci_0000_04_00_0');
    expect(other && found.matesInUse(other.device, SECOND)).toEqual([{ mate: 'pci_0000_03_00_0', user: 'one' }]);
    expect(other && found.matesInUse(other.device, UUID)).toEqual([]);
  });

  test('on USB are hubs, disks of the host, or can be passed through', async () => {
    const devices = [
      usbDevice('usb_1_1', 1, 2),
      usbInterface('usb_1_1', 9),
      usbDevice('usb_1_2', 1, 3),
      diskOf('usb_1_2', 'sdb'),
      usbDevice('usb_1_3', 1, 4, '0x046d:0xc31c'),
    ];
    expect((await read({ devices, hasIommu: false })).present().map(({ refusal }) => refusal)).toEqual([
      expect.stringMatching(/is a USB hub/),
      expect.stringMatching(/the disk \/dev\/sdb/),
      null,
    ]);
  });

  test('that are mediated are known by their UUIDs', async () => {
    const [device] = (await read({ devices: [mediatedDevice(MDEV, 9)] })).all();
    expect(device?.device.address).toEqual({ kind: 'mdev', uuid: MDEV });
    expect(device?.refusals).toEqual([]);
  });

  test.each([
    { kind: 'pci', domain: 0, bus: 3, slot: 31, function: 7 },
    { kind: 'usb', vendor: 0x0951, product: 0x1666 },
    { kind: 'usb', vendor: 0x0951, product: 0x1666, port: { bus: 1, device: 12 } },
    { kind: 'mdev', uuid: MDEV },
  ] as const)('have the same address in the XML of a domain: %j', (address) => {
    const xml = foreignDomainXml({ name: 'one', uuid: UUID, disks: formatXml({ hostdev: hostdevElement(address) }) });
    expect(addressesOfDomain(describeDomain(xml).document)).toEqual([address]);
  });

  test('of other kinds in a domain are ignored', () => {
    const scsi = "<hostdev mode='subsystem' type='scsi'><source><adapter name='scsi_host0'/><address bus='0' target='0' unit='0'/></source></hostdev>"; // prettier-ignore
    expect(
      addressesOfDomain(describeDomain(foreignDomainXml({ name: 'one', uuid: UUID, disks: scsi })).document),
    ).toEqual([]);
  });
});
