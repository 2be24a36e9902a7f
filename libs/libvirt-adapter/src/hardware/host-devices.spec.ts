import { FixedClock } from '@headgate/testing';
import type { DeviceChange } from '../connection/domain-operations.js';
import type { LibvirtConnection } from '../connection/libvirt-connection.js';
import { describeDomain } from '../domain-xml/domain-description.js';
import { DomainFinder } from '../domains/domain-finder.js';
import { foreignDomainXml, UUID } from '../testing/domain-xml.js';
import { diskOf, pciDevice, usbDevice } from '../testing/node-devices.js';
import type { DomainHardware } from './domain-hardware.js';
import { HostDeviceChanges } from './host-devices.js';

const OTHER = '7d5ad5f8-6a0f-4f8c-9fd5-0a0ad3c1d2b1';
const CARD = pciDevice({ address: '03:00.0', iommuGroup: 12, driver: 'nouveau' });
const PORTS = "<controller type='pci' index='0' model='pcie-root'/><controller type='pci' index='1' model='pcie-root-port'><address type='pci' bus='0x00' slot='0x01'/></controller>"; // prettier-ignore
const FULL = `${PORTS}<disk type='file' device='disk'><source file='/d'/><target dev='vda'/><address type='pci' domain='0x0000' bus='0x01' slot='0x00' function='0x0'/></disk>`;
const hostdev = (source: string, type = 'pci'): string =>
  `<hostdev mode='subsystem' type='${type}' managed='yes'><source>${source}</source></hostdev>`;
const ADDRESS = "<address domain='0x0000' bus='0x03' slot='0x00' function='0x0'/>";
const USB = "<vendor id='0x0951'/><product id='0x1666'/>";

interface Machine {
  /** XML of node devices; a function if they change between two readings. */
  readonly devices: readonly string[] | (() => readonly string[]);
  /** The devices of the VM. */
  readonly own?: string;
  /** Those of another VM. */
  readonly other?: string;
  readonly isRunning?: boolean;
}

function given({ devices, own = '', other, isRunning = false }: Machine) {
  const changes: (DeviceChange & { readonly verb: string })[] = [];
  const xml = foreignDomainXml({ name: 'web', uuid: UUID, disks: own });
  const domains = [
    { id: { name: 'web', uuid: UUID }, xml },
    ...(other === undefined
      ? []
      : [{ id: { name: 'db', uuid: OTHER }, xml: foreignDomainXml({ name: 'db', uuid: OTHER, disks: other }) }]),
  ];
  let current = xml;
  const connection = {
    host: {
      hostname: async () => 'host-1',
      capabilities: async () => "<capabilities><host><iommu support='yes'/></host></capabilities>",
      devices: async () => [...(typeof devices === 'function' ? devices() : devices)],
    },
    domains: {
      list: async () => domains.map(({ id }) => id),
      documents: async () => domains,
      inspect: async () => ({ xml: current, state: { isActive: isRunning } }),
      attachDevice: async (_uuid: string, change: DeviceChange) => void changes.push({ verb: 'attach', ...change }),
      detachDevice: async (_uuid: string, change: DeviceChange) => {
        changes.push({ verb: 'detach', ...change });
        if (change.inLiveDomain) current = current.replace(/<hostdev[\s\S]*<\/hostdev>/, '');
      },
    },
  } as unknown as LibvirtConnection;
  const finder = new DomainFinder('local', connection);
  const clock = new FixedClock(0);
  const hostDevices = new HostDeviceChanges({ connection, finder, clock, defaultInterfaces: async () => [] });
  const described = { description: describeDomain(xml) };
  const domain = {
    id: { name: 'web', uuid: UUID },
    state: { isActive: isRunning },
    live: described,
    config: described,
  } as unknown as DomainHardware;
  return { hostDevices, domain, changes };
}

const attach = (device: string) => ({ kind: 'attach-host-device', device }) as const;

describe('a device of the host', () => {
  test('is attached to a stopped VM for its next start, with what the host loses', async () => {
    const { hostDevices, domain, changes } = given({ devices: [CARD] });
    const { plan, run } = await hostDevices.attach(domain, attach('pci_0000_03_00_0'));
    expect(plan).toMatchObject({ effect: 'next-start', refusals: [], steps: [{ name: 'attach' }] });
    expect(plan.warnings).toEqual(
      expect.arrayContaining([
        expect.stringMatching(/neither be migrated nor saved/),
        expect.stringMatching(/loses the device.*nouveau/),
        expect.stringMatching(/goes dark/),
      ]),
    );
    await run();
    expect(changes).toEqual([
      expect.objectContaining({ verb: 'attach', inLiveDomain: false, inPersistentDomain: true }),
    ]);
    expect(changes[0]?.xml.replace(/\s+/g, ' ')).toContain(
      '<hostdev mode="subsystem" type="pci" managed="yes"> <source> <address domain="0x0000" bus="0x03" slot="0x00" function="0x0"/>',
    );
  });

  test.each([
    ['immediately', PORTS, 'now', true],
    ['at its next start, when all ports are occupied', FULL, 'next-start', false],
  ])('is attached to a running VM %s', async (_title, own, effect, inLiveDomain) => {
    const { hostDevices, domain, changes } = given({ devices: [CARD], own, isRunning: true });
    const { plan, run } = await hostDevices.attach(domain, attach('pci_0000_03_00_0'));
    expect(plan.effect).toBe(effect);
    await run();
    expect(changes).toEqual([expect.objectContaining({ inLiveDomain, inPersistentDomain: true })]);
  });

  test.each<[title: string, machine: Machine, device: string, code: string]>([
    ['that was unplugged since it was listed', { devices: [] }, 'usb_1_2', 'DEVICE_NOT_FOUND'],
    ['that can not be passed through', { devices: [CARD, diskOf('computer', 'sda')] }, 'block_sda', 'DEVICE_NOT_FOUND'],
    ['of another VM', { devices: [CARD], other: hostdev(ADDRESS) }, 'pci_0000_03_00_0', 'BUSY'],
    ['that the VM has', { devices: [CARD], own: hostdev(ADDRESS) }, 'pci_0000_03_00_0', 'ALREADY_EXISTS'],
    ['on USB of another VM, whatever its port', { devices: [usbDevice('usb_1_2', 1, 9)], other: hostdev(USB, 'usb') }, 'usb_1_2', 'BUSY'], // prettier-ignore
    [
      'in the IOMMU group of another VM',
      { devices: [CARD.replace('nouveau', 'vfio-pci'), pciDevice({ address: '03:00.1', iommuGroup: 12 })], other: hostdev(ADDRESS) }, // prettier-ignore
      'pci_0000_03_00_1',
      'BUSY',
    ],
    [
      'with a disk of the host behind it',
      { devices: [pciDevice({ address: '04:00.0', classCode: '0x010601', driver: 'ahci', iommuGroup: 3 }), diskOf('pci_0000_04_00_0', 'sda')] }, // prettier-ignore
      'pci_0000_04_00_0',
      'WRONG_STATE',
    ],
  ])('is refused: one %s', async (_title, machine, device, code) => {
    const { hostDevices, domain, changes } = given(machine);
    const { plan } = await hostDevices.attach(domain, attach(device));
    expect(plan.steps).toEqual([]);
    expect(plan.refusals.map((one) => one.code)).toContain(code);
    for (const { reason, remedy } of plan.refusals) expect([reason, remedy]).not.toContain('');
    expect(changes).toEqual([]);
  });

  test('on USB is named by its number only where there are several of a kind', async () => {
    const one = given({ devices: [usbDevice('usb_1_2', 1, 9)] });
    await (await one.hostDevices.attach(one.domain, attach('usb_1_2'))).run();
    expect(one.changes[0]?.xml).not.toContain('<address');
    const two = given({ devices: [usbDevice('usb_1_2', 1, 9), usbDevice('usb_1_3', 1, 10)] });
    await (await two.hostDevices.attach(two.domain, attach('usb_1_3'))).run();
    expect(two.changes[0]?.xml).toContain('<address bus="1" device="10"/>');
  });

  test('is detached from the guest first, then from the configuration', async () => {
    const { hostDevices, domain, changes } = given({ devices: [CARD], own: hostdev(ADDRESS), isRunning: true });
    const { plan, run } = await hostDevices.detach(domain, { kind: 'detach-host-device', name: 'pci_0000_03_00_0' });
    expect(plan.effect).toBe('now');
    await run();
    expect(
      changes.map(({ verb, inLiveDomain, inPersistentDomain }) => [verb, inLiveDomain, inPersistentDomain]),
    ).toEqual([
      ['detach', true, false],
      ['detach', false, true],
    ]);
  });

  test('of another VM, or of none, is not detached', async () => {
    const { hostDevices, domain, changes } = given({ devices: [CARD], other: hostdev(ADDRESS) });
    const { plan } = await hostDevices.detach(domain, { kind: 'detach-host-device', name: 'pci_0000_03_00_0' });
    expect(plan.refusals).toMatchObject([{ code: 'DEVICE_NOT_FOUND' }]);
    expect(changes).toEqual([]);
  });
});
