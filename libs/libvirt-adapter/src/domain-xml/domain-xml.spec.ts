import { maskSecrets } from '../inventory/mask-secrets.js';
import { ownDomainXml, UUID } from '../testing/domain-xml.js';
import { fileDisk, foreignDomainXml } from '../testing/domain-xml.js';
import { bootDisk, describeDomain } from './domain-description.js';
import { formatMetadata, INSTANCE_XMLNS, NO_METADATA } from './instance-metadata.js';
import { countPendingChanges } from './pending-changes.js';
import { element, parseXml } from '../xml/xml.js';

describe('a domain that the service created', () => {
  test('round-trips through the parser', () => {
    const description = describeDomain(ownDomainXml());
    expect(description).toMatchObject({
      name: 'web',
      uuid: UUID,
      type: 'qemu',
      cpu: 2,
      memoryBytes: 512 * 1024 ** 2,
      agent: 'disconnected',
    });
    expect(description.serial).toEqual({
      type: 'unix',
      path: `/images/headgate/${UUID}.serial`,
      logFile: '/images/headgate/web-2c749204-serial.log',
    });
    expect(description.metadata).toMatchObject({
      owner: UUID,
      volumes: [{ name: 'web-2c749204.qcow2', bytes: 1024 ** 3 }, { role: 'serial-log' }],
    });
  });

  test('escapes values from the caller', () => {
    const path = `/images/"<&'>.qcow2`;
    expect(bootDisk(describeDomain(ownDomainXml({ disk: { path, format: 'raw' } })))?.path).toBe(path);
  });

  test('boots from its disk, and falls back to the installation ISO while the disk is blank', () => {
    const { disks } = describeDomain(ownDomainXml({ installer: '/images/installer.iso' }));
    expect(disks.map(({ device, bootOrder }) => [device, bootOrder])).toEqual([
      ['disk', 1],
      ['cdrom', 2],
    ]);
  });

  test('attaches the cloud-init seed on the bus of the boot disk', () => {
    const xml = ownDomainXml({ seed: '/images/seed.iso' });
    expect(xml).toMatch(/<source file="\/images\/seed\.iso"\/?>(<\/source>)?\s*<target dev="vdb" bus="virtio"/);
    expect(bootDisk(describeDomain(xml))?.path).toBe('/images/headgate/web-2c749204.qcow2');
  });

  test('serves VNC on a unix socket, and on loopback TCP where libvirt is remote', () => {
    expect(ownDomainXml()).toMatch(/<graphics type="vnc">\s*<listen type="socket"/);
    expect(ownDomainXml({ vnc: 'loopback' })).toContain('address="127.0.0.1"');
  });

  test('uses KVM only when the host supports it', () => {
    expect(ownDomainXml({ accelerator: 'kvm' })).toContain('<domain type="kvm"');
    expect(ownDomainXml({ accelerator: 'tcg' })).toContain('<domain type="qemu"');
  });
});

describe("the service's metadata in domain XML", () => {
  // The output of virsh 9.0 after `virsh metadata --set`: a prefix on the element, none on its children.
  const noted = `<metadata><x:instance xmlns:x="${INSTANCE_XMLNS}" owner="${UUID}"><tag>b</tag><tag>a</tag></x:instance></metadata>`;

  test('is found by its namespace, regardless of its prefix', () => {
    const xml = foreignDomainXml({ name: 'a', uuid: UUID, metadata: noted.replace(/<\/?metadata>/g, '') });
    expect(describeDomain(xml).metadata).toMatchObject({ owner: UUID, tags: ['a', 'b'] });
  });

  test('is ignored when it has another namespace', () => {
    const xml = foreignDomainXml({
      name: 'a',
      uuid: UUID,
      metadata: '<x:instance xmlns:x="https://example.org/1" owner="me"/>',
    });
    expect(describeDomain(xml).metadata).toEqual(NO_METADATA);
  });

  test('round-trips through the formatter', () => {
    const text = formatMetadata({ ...NO_METADATA, owner: UUID, tags: ['a<b'], isTemplate: true, failure: '"<&' });
    expect(element(parseXml(text), 'instance')).toMatchObject({ '@owner': UUID, '@template': 'yes', tag: ['a<b'] });
    const xml = ownDomainXml({ metadata: { ...NO_METADATA, owner: UUID, failure: 'The image is a "text" <&>.' } });
    expect(describeDomain(xml).metadata.failure).toBe('The image is a "text" <&>.');
  });
});

const MIB = 1024 ** 2;

describe('countPendingChanges', () => {
  const of = (memoryBytes: number, disks = '') =>
    describeDomain(ownDomainXml({ memoryBytes }).replace('</devices>', `${disks}</devices>`));

  test('detects a different memory size and an added disk', () => {
    expect(countPendingChanges(of(1024 * MIB), of(1024 * MIB))).toBe(0);
    expect(countPendingChanges(of(1024 * MIB), of(2048 * MIB))).toBe(1);
    expect(countPendingChanges(of(1024 * MIB), of(2048 * MIB, fileDisk('/images/b.qcow2', 'qcow2', 'vdb')))).toBe(2);
  });

  test('ignores the rounding of memory by QEMU', () => {
    expect(countPendingChanges(of(3815 * MIB), of(4_000_000_000))).toBe(0);
  });
});

describe('maskSecrets', () => {
  test('masks passwords and free text, and leaves the rest', () => {
    const document = parseXml(`<domain>
      <name>web</name>
      <devices><graphics type='vnc' passwd='s3cret'/><disk type='network'><auth username='u'><secret type='ceph' uuid='1-2'/></auth></disk></devices>
      <sysinfo type='smbios'><oemStrings><entry>ds=nocloud;password=s3cret</entry></oemStrings><system><entry name='serial'>s3cret</entry></system></sysinfo>
      <qemu:commandline><qemu:arg value='s3cret'/><qemu:env name='TOKEN' value='s3cret'/></qemu:commandline>
    </domain>`);
    const masked = JSON.stringify(maskSecrets(document));
    expect(masked).not.toContain('s3cret');
    for (const kept of ['web', 'vnc', 'serial', '1-2', 'TOKEN']) expect(masked).toContain(kept);
  });
});

test('a VM boots from the disk with the lowest boot order, or else from its first one', () => {
  const disks = ['vda', 'vdb', 'vdc'].map((target) => fileDisk(`/images/${target}.qcow2`, 'qcow2', target));
  const boots = (...list: string[]): string | undefined =>
    bootDisk(describeDomain(foreignDomainXml({ name: 'web', uuid: UUID, disks: list.join('') })))?.target;
  const [first = '', second = '', third = ''] = disks;
  const ordered = (disk: string, order: number): string => disk.replace('</disk>', `<boot order='${order}'/></disk>`);
  expect(boots(first, second, third)).toBe('vda');
  expect(boots(first, second, ordered(third, 1))).toBe('vdc');
  expect(boots(first, ordered(second, 2), ordered(third, 1))).toBe('vdc');
  expect(boots()).toBeUndefined();
});
