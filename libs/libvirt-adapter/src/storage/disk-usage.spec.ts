import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DomainFinder } from '../domains/domain-finder.js';
import { fileDisk, foreignDomainXml, volumeDisk } from '../testing/domain-xml.js';
import { FakeLibvirt } from '../testing/fake-libvirt.js';
import { DiskUsage } from './disk-usage.js';
import { findVolume } from './find-volume.js';

const UUID = '6f1b0b45-9d35-4e1b-8a0f-0c5f4f9d5a11';

describe('DiskUsage', () => {
  let libvirt: FakeLibvirt;
  let folder: string;

  beforeEach(async () => {
    libvirt = new FakeLibvirt();
    libvirt.addPool('default', '/images', 'base.qcow2', 'overlay.qcow2', 'top.qcow2');
    folder = await mkdtemp(join(tmpdir(), 'disk-usage-spec-'));
  });
  afterEach(() => rm(folder, { recursive: true }));

  const usersOf = async (path: string) =>
    (await DiskUsage.read(libvirt.connection(), new DomainFinder('local', libvirt.connection()))).usersOf(path);
  const addDomain = (disks: string) => libvirt.add(foreignDomainXml({ name: 'db', uuid: UUID, disks }));

  test('finds the users of a disk, of a disk of type volume, and no others', async () => {
    addDomain(fileDisk('/images/base.qcow2') + volumeDisk('default', 'top.qcow2'));
    expect(await usersOf('/images/base.qcow2')).toEqual(['db']);
    expect(await usersOf('/images/top.qcow2')).toEqual(['db']);
    expect(await usersOf('/images/base')).toEqual([]);
  });

  test('finds the users of a file below several overlays', async () => {
    libvirt.backing
      .set('/images/top.qcow2', '/images/overlay.qcow2')
      .set('/images/overlay.qcow2', '/images/base.qcow2');
    addDomain(fileDisk('/images/top.qcow2'));
    expect(await usersOf('/images/base.qcow2')).toEqual(['db']);
  });

  test('ends at a backing chain that is a circle', async () => {
    libvirt.backing.set('/images/top.qcow2', '/images/overlay.qcow2').set('/images/overlay.qcow2', '/images/top.qcow2');
    addDomain(fileDisk('/images/top.qcow2'));
    expect(await usersOf('/images/base.qcow2')).toEqual([]);
  });

  test('reads the backing chain of a running domain from its XML', async () => {
    const chain = `<backingStore type='file'><source file='/elsewhere/a'/><backingStore type='file'><source file='/elsewhere/b'/></backingStore></backingStore>`;
    addDomain(fileDisk('/elsewhere/top').replace('</disk>', `${chain}</disk>`));
    expect(await usersOf('/elsewhere/b')).toEqual(['db']);
  });

  test('reads the backing file of an overlay outside the pools from its header', async () => {
    const [base, overlay] = [join(folder, 'base.raw'), join(folder, 'overlay.qcow2')];
    await writeFile(base, Buffer.alloc(4096));
    await writeFile(overlay, qcow2WithBackingFile('base.raw'));
    addDomain(fileDisk(overlay));
    expect(await usersOf(base)).toEqual(['db']);
  });

  test.each([
    ['a relative name', 'base.raw'],
    ['a file URL', 'file:base.raw'],
    ['a JSON description', 'json:{"driver":"raw","file":{"driver":"file","filename":"base.raw"}}'],
  ])('reads %s', async (_title, name) => {
    const overlay = join(folder, 'overlay.qcow2');
    await writeFile(overlay, qcow2WithBackingFile(name));
    addDomain(fileDisk(overlay));
    expect(await usersOf(join(folder, 'base.raw'))).toEqual(['db']);
  });
});

describe('findVolume', () => {
  test('accepts the names that libvirt accepts, and a name with its pool', async () => {
    const libvirt = new FakeLibvirt();
    libvirt.addPool('default', '/images', 'Win 10_data.img', 'a.qcow2');
    libvirt.addPool('fast', '/fast', 'a.qcow2');
    const find = (claim: string) => findVolume(libvirt.connection(), claim, 'headgate');
    expect(await find('Win 10_data')).toMatchObject({ path: '/images/Win 10_data.img' });
    await expect(find('a')).rejects.toMatchObject({ code: 'CONFLICT', message: expect.stringContaining('default/a') });
    expect(await find('fast/a')).toMatchObject({ path: '/fast/a.qcow2' });
    await expect(find('slow/a')).rejects.toMatchObject({ code: 'VOLUME_NOT_FOUND' });
  });
});

/** The beginning of a qcow2 overlay. */
function qcow2WithBackingFile(name: string): Buffer {
  const header = Buffer.alloc(104 + Buffer.byteLength(name));
  header.write('QFI\xfb', 'latin1');
  header.writeUInt32BE(3, 4);
  header.writeBigUInt64BE(104n, 8);
  header.writeUInt32BE(Buffer.byteLength(name), 16);
  header.write(name, 104);
  return header;
}
