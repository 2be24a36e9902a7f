import { DomainFinder } from '../domains/domain-finder.js';
import { fileDisk, foreignDomainXml, ownDomainXml, UUID, volumeDisk } from '../testing/domain-xml.js';
import { FakeLibvirt } from '../testing/fake-libvirt.js';
import { BaseReferences } from './base-references.js';

const BASE = 'base-11111111-0000000000000000000000000000000000000000.qcow2';
const PATH = `/images/headgate/${BASE}`;
const OTHER_UUID = '11111111-2222-4333-8444-555555555555';

describe('BaseReferences', () => {
  let libvirt: FakeLibvirt;

  beforeEach(() => {
    libvirt = new FakeLibvirt();
    libvirt.addPool('headgate', '/images/headgate', BASE, 'web-2c749204.qcow2');
    libvirt.addPool('theirs', '/theirs', 'data.qcow2');
  });

  const isReferenced = async (): Promise<boolean> => {
    const connection = libvirt.connection();
    return (await new BaseReferences(connection, new DomainFinder('local', connection)).read()).has(BASE);
  };

  test('finds none for an image that is only in the pool', async () => {
    libvirt.add(ownDomainXml());
    expect(await isReferenced()).toBe(false);
  });

  test.each<[string, () => void]>([
    [
      'the overlay of a VM',
      () => {
        libvirt.add(ownDomainXml());
        libvirt.backing.set('/images/headgate/web-2c749204.qcow2', PATH);
      },
    ],
    [
      'a snapshot above the overlay of a VM',
      () => {
        libvirt.add(foreignDomainXml({ name: 'a', uuid: UUID, disks: volumeDisk('theirs', 'data.qcow2') }));
        libvirt.backing.set('/theirs/data.qcow2', '/images/headgate/web-2c749204.qcow2');
        libvirt.backing.set('/images/headgate/web-2c749204.qcow2', PATH);
      },
    ],
    ['a volume of another pool, which belongs to no domain', () => libvirt.backing.set('/theirs/data.qcow2', PATH)],
    [
      'a domain that uses it directly, by another path',
      () => libvirt.add(foreignDomainXml({ name: 'a', uuid: OTHER_UUID, disks: fileDisk(`/mnt/link/${BASE}`) })),
    ],
    [
      'a domain that mentions it anywhere',
      () => libvirt.add(foreignDomainXml({ name: 'a', uuid: OTHER_UUID, metadata: `<x:y xmlns:x="u">${BASE}</x:y>` })),
    ],
  ])('finds %s', async (_title, refer) => {
    refer();
    expect(await isReferenced()).toBe(true);
  });

  test('fails if the volumes of a pool can not be read', async () => {
    libvirt.scripted.set('vol-list', { code: 1, stderr: 'error: disconnected from hypervisor' });
    await expect(isReferenced()).rejects.toThrow();
  });
});
