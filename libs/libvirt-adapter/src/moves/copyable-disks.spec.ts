import { describeDomain } from '../domain-xml/domain-description.js';
import { findCopyableDisks, readingRefusal } from './copyable-disks.js';
import { describePlatform } from './describe-portable.js';

const domain = (devices: string, more = "<os><type arch='x86_64'>hvm</type></os>") =>
  describeDomain(
    `<domain type='kvm'><name>web</name><uuid>2c749204-8322-4dfd-b324-cb2e556e0e9a</uuid><memory>262144</memory><vcpu>2</vcpu>${more}
    <metadata><h:instance xmlns:h='https://headgate.dev/xmlns/instance/1' owner='2c749204-8322-4dfd-b324-cb2e556e0e9a'>
    <h:volume pool='headgate' name='web-seed.iso' role='seed'/></h:instance></metadata><devices>${devices}</devices></domain>`,
  );
const disk = (target: string, { more = '', bus = 'virtio', device = 'disk', path = `/images/${target}.qcow2` } = {}) =>
  `<disk type='file' device='${device}'><driver name='qemu' type='qcow2'/><source file='${path}'/><target dev='${target}' bus='${bus}'/>${more}</disk>`;

describe('the disks of a domain that can be copied', () => {
  test('begin with the boot disk, and have their bus and format', () => {
    const { disks, refusals, losses } = findCopyableDisks(
      domain(disk('vda') + disk('sda', { bus: 'sata', more: "<boot order='1'/>" }) + disk('hda', { bus: 'ide' })),
    );
    expect([refusals, losses]).toEqual([[], []]);
    expect(disks).toEqual([
      { target: 'sda', path: '/images/sda.qcow2', format: 'qcow2', bus: 'sata' },
      { target: 'vda', path: '/images/vda.qcow2', format: 'qcow2', bus: 'virtio' },
      { target: 'hda', path: '/images/hda.qcow2', format: 'qcow2', bus: 'sata' },
    ]);
  });

  test('are raw if libvirt names no format, because a guest may write anything to its disk', () => {
    const xml = "<disk type='block' device='disk'><source dev='/dev/vg/web'/><target dev='vda' bus='virtio'/></disk>";
    expect(findCopyableDisks(domain(xml)).disks).toMatchObject([{ path: '/dev/vg/web', format: 'raw' }]);
  });

  test('do not include discs and read-only disks, which are dropped, but for the cloud-init seed', () => {
    const { disks, losses } = findCopyableDisks(
      domain(
        disk('vda') +
          disk('sda', { device: 'cdrom', more: '<readonly/>' }) +
          disk('vdb', { more: '<readonly/>', path: '/images/web-seed.iso' }) +
          disk('vdc', { more: '<readonly/>' }) +
          "<disk type='file' device='cdrom'><target dev='sdb' bus='sata'/></disk>",
      ),
    );
    expect(disks.map(({ target }) => target)).toEqual(['vda']);
    expect(losses).toEqual([
      { what: 'The drive sda with its medium.', category: 'media', severity: 'warning' },
      { what: 'The read-only disk vdc.', category: 'media', severity: 'warning' },
    ]);
  });

  test.each([
    ['a passed-through LUN', disk('sda', { device: 'lun', bus: 'scsi' }), 'passed through'],
    ['a shared disk', disk('vda', { more: '<shareable/>' }), 'shared'],
    ['an encrypted disk', disk('vda', { more: "<encryption format='luks'/>" }), 'encrypted'],
    ['a disk that forgets its changes', disk('vda', { more: '<transient/>' }), 'discarded'],
    [
      'a disk of another machine',
      "<disk type='network' device='disk'><source protocol='rbd' name='pool/web'/><target dev='vda' bus='virtio'/></disk>",
      'neither a file nor a block device',
    ],
    ['a VM without a disk', '', 'has no disk'],
  ])('are refused for %s', (_title, devices, reason) => {
    const { disks, refusals } = findCopyableDisks(domain(devices));
    expect(disks).toEqual([]);
    expect(refusals).toEqual([
      { code: 'NOT_SUPPORTED', reason: expect.stringContaining(reason), remedy: expect.stringMatching(/\.$/) },
    ]);
  });

  test('are refused when their file is missing', async () => {
    const [missing] = findCopyableDisks(domain(disk('vda', { path: '/nonexistent/disk' }))).disks;
    expect(await readingRefusal(missing!)).toMatchObject({ code: 'VOLUME_NOT_FOUND' });
  });
});

describe('the platform of a domain', () => {
  const os = (inner: string, attributes = '') => `<os ${attributes}><type arch='x86_64'>hvm</type>${inner}</os>`;

  test.each([
    ['bios', os('')],
    ['uefi', os("<loader type='pflash' secure='no'>/usr/share/OVMF.fd</loader>")],
    ['uefi', os("<firmware><feature enabled='no' name='enrolled-keys'/></firmware>", "firmware='efi'")],
    ['uefi-secure', os("<loader type='pflash' secure='yes'>/usr/share/OVMF.fd</loader>")],
    ['uefi-secure', os("<firmware><feature enabled='yes' name='enrolled-keys'/></firmware>", "firmware='efi'")],
  ])('has the firmware %s', (firmware, xml) => {
    expect(describePlatform(domain('', xml)).firmware).toBe(firmware);
  });

  test('has its cards with their addresses, and no network behind user-mode networking', () => {
    const nic = (type: string, source: string, mac: string) =>
      `<interface type='${type}'><mac address='${mac}'/>${source}<model type='e1000e'/></interface>`;
    const { nics } = describePlatform(
      domain(
        nic('network', "<source network='lan'/>", '52:54:00:00:00:01') +
          nic('bridge', "<source bridge='br0'/>", '52:54:00:00:00:02') +
          nic('user', '', '52:54:00:00:00:03'),
      ),
    );
    expect(nics).toEqual([
      { name: 'nic0', network: 'lan', mac: '52:54:00:00:00:01', model: 'e1000e' },
      { name: 'nic1', network: 'br0', mac: '52:54:00:00:00:02', model: 'e1000e' },
      { name: 'nic2', network: '', mac: '52:54:00:00:00:03', model: 'e1000e' },
    ]);
  });

  test.each([
    ["<hostdev mode='subsystem' type='pci'/>", 'passed through'],
    ["<interface type='hostdev'><mac address='52:54:00:00:00:01'/></interface>", 'card of the machine'],
    ["<filesystem type='mount'/>", 'a folder of the machine'],
    ["<shmem name='shared'/>", 'shared with the machine'],
  ])('is refused with %s', (devices, reason) => {
    expect(describePlatform(domain(devices)).refusals).toMatchObject([
      { code: 'NOT_SUPPORTED', reason: expect.stringContaining(reason) },
    ]);
  });

  test('loses the devices and settings that other backends do not have', () => {
    const { losses, tpm } = describePlatform(
      domain("<sound model='ich9'/><tpm model='tpm-crb'/>", '<cputune/><os><type>hvm</type></os>'),
    );
    expect(tpm).toBe(true);
    expect(losses).toEqual([
      { what: 'The sound card.', category: 'devices', severity: 'warning' },
      { what: 'The CPU tuning of libvirt.', category: 'tuning', severity: 'info' },
    ]);
  });
});
