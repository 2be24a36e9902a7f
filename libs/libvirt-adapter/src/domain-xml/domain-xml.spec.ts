import { maskSecrets } from '../inventory/mask-secrets.js';
import { ourDomainXml, UUID } from '../testing/domain-xml.js';
import { fileDisk, foreignDomainXml } from '../testing/foreign-domain.js';
import { bootDisk, describeDomain } from './domain-description.js';
import { formatMetadata, INSTANCE_XMLNS, NO_METADATA } from './instance-metadata.js';
import { hasPendingChanges } from './pending-changes.js';
import { element, parseXml } from './xml.js';

describe('a domain of ours', () => {
  test('reads back as it was built', () => {
    const description = describeDomain(ourDomainXml());
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

  test('escapes what the caller chose', () => {
    const path = `/images/"<&'>.qcow2`;
    expect(bootDisk(describeDomain(ourDomainXml({ disk: { path, format: 'raw' } })))?.path).toBe(path);
  });

  test('boots from its disk, and from the disc while there is nothing on the disk', () => {
    const { disks } = describeDomain(ourDomainXml({ installer: '/images/installer.iso' }));
    expect(disks.map(({ device, bootOrder }) => [device, bootOrder])).toEqual([
      ['disk', 1],
      ['cdrom', 2],
    ]);
  });

  test('gives the guest its cloud-init data on the bus of the disk that it boots from', () => {
    const xml = ourDomainXml({ seed: '/images/seed.iso' });
    expect(xml).toMatch(/<source file="\/images\/seed\.iso"\/?>(<\/source>)?\s*<target dev="vdb" bus="virtio"/);
    expect(bootDisk(describeDomain(xml))?.path).toBe('/images/headgate/web-2c749204.qcow2');
  });

  test('listens for VNC on a socket, and on TCP at home where libvirt is far away', () => {
    expect(ourDomainXml()).toMatch(/<graphics type="vnc">\s*<listen type="socket"/);
    expect(ourDomainXml({ vnc: 'loopback' })).toContain('address="127.0.0.1"');
  });

  test('uses KVM only where it works', () => {
    expect(ourDomainXml({ accelerator: 'kvm' })).toContain('<domain type="kvm"');
    expect(ourDomainXml({ accelerator: 'tcg' })).toContain('<domain type="qemu"');
  });
});

describe('the note in a description', () => {
  // What virsh 9.0 makes of `virsh metadata --set`: the prefix on the element, none on its children.
  const noted = `<metadata><x:instance xmlns:x="${INSTANCE_XMLNS}" owner="${UUID}"><tag>b</tag><tag>a</tag></x:instance></metadata>`;

  test('is found by its namespace, whatever its prefix', () => {
    const xml = foreignDomainXml({ name: 'a', uuid: UUID, metadata: noted.replace(/<\/?metadata>/g, '') });
    expect(describeDomain(xml).metadata).toMatchObject({ owner: UUID, tags: ['a', 'b'] });
  });

  test('of another namespace is none of ours', () => {
    const xml = foreignDomainXml({
      name: 'a',
      uuid: UUID,
      metadata: '<x:instance xmlns:x="https://example.org/1" owner="me"/>',
    });
    expect(describeDomain(xml).metadata).toEqual(NO_METADATA);
  });

  test('is written so that it reads back', () => {
    const text = formatMetadata({ ...NO_METADATA, owner: UUID, tags: ['a<b'], isTemplate: true });
    expect(element(parseXml(text), 'instance')).toMatchObject({ '@owner': UUID, '@template': 'yes', tag: ['a<b'] });
  });
});

describe('hasPendingChanges', () => {
  const of = (memoryBytes: number, disks = '') =>
    describeDomain(ourDomainXml({ memoryBytes }).replace('</devices>', `${disks}</devices>`));

  test('sees another memory size and another disk', () => {
    expect(hasPendingChanges(of(1024), of(1024))).toBe(false);
    expect(hasPendingChanges(of(1024), of(2048))).toBe(true);
    expect(hasPendingChanges(of(1024), of(1024, fileDisk('/images/b.qcow2', 'qcow2', 'vdb')))).toBe(true);
  });
});

describe('maskSecrets', () => {
  test('hides passwords and free text, and leaves the rest', () => {
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
