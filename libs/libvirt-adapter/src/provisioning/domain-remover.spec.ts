import { fileDisk, foreignDomainXml } from '../testing/foreign-domain.js';
import { ourDomainXml, UUID } from '../testing/domain-xml.js';
import { FakeLibvirt } from '../testing/fake-libvirt.js';
import { DomainFinder } from '../domains/domain-finder.js';
import { StoragePool } from '../storage/storage-pool.js';
import { DomainEditor } from './domain-editor.js';
import { DomainRemover } from './domain-remover.js';

const OTHER = '6f1b0b45-9d35-4e1b-8a0f-0c5f4f9d5a11';

describe('DomainRemover', () => {
  let libvirt: FakeLibvirt;
  let remover: DomainRemover;

  beforeEach(() => {
    libvirt = new FakeLibvirt();
    libvirt.addPool(
      'headgate',
      '/images/headgate',
      'web-2c749204.qcow2',
      'web-2c749204-serial.log',
      'web-2c749204-serial.log.0',
      'kept.qcow2',
    );
    libvirt.addPool('default', '/images', 'web-2c749204.qcow2');
    const virsh = libvirt.virsh();
    const finder = new DomainFinder('local', virsh);
    remover = new DomainRemover(
      virsh,
      finder,
      new StoragePool(virsh, 'headgate', '/images/headgate'),
      new DomainEditor(virsh),
    );
  });

  const removedVolumes = () => libvirt.changes.filter((change) => change.startsWith('vol-delete'));

  test('removes the domain with the volumes that were made for it, the older parts of its log too', async () => {
    libvirt.add(ourDomainXml(), 'running (booted)');
    await remover.remove(UUID);
    expect(libvirt.changes).toEqual([
      `destroy ${UUID}`,
      'vol-delete headgate/web-2c749204.qcow2',
      'vol-delete headgate/web-2c749204-serial.log',
      'vol-delete headgate/web-2c749204-serial.log.0',
      `undefine ${UUID} --managed-save --snapshots-metadata --checkpoints-metadata --nvram`,
    ]);
    expect([...(libvirt.pools.get('headgate')?.volumes ?? [])]).toEqual(['kept.qcow2']);
  });

  test('removes no volume of a domain that somebody copied from one of ours', async () => {
    // virt-clone copies the note, and with it the UUID of the domain that it was written for.
    libvirt.add(ourDomainXml().replaceAll(`<uuid>${UUID}`, `<uuid>${OTHER}`));
    await remover.remove(OTHER);
    expect(removedVolumes()).toEqual([]);
    expect(libvirt.domains.size).toBe(0);
  });

  test('removes no disk of a domain that somebody else defined', async () => {
    libvirt.add(foreignDomainXml({ name: 'old', uuid: OTHER, disks: fileDisk('/images/headgate/kept.qcow2') }));
    expect((await remover.plan(OTHER)).kept).toEqual(['/images/headgate/kept.qcow2']);
    await remover.remove(OTHER);
    expect(removedVolumes()).toEqual([]);
  });

  test('keeps a volume of ours that another domain uses by now', async () => {
    libvirt.add(ourDomainXml());
    libvirt.add(
      foreignDomainXml({ name: 'thief', uuid: OTHER, disks: fileDisk('/images/headgate/web-2c749204.qcow2') }),
    );
    expect((await remover.plan(UUID)).kept).toEqual(['/images/headgate/web-2c749204.qcow2']);
    await remover.remove(UUID);
    expect(removedVolumes().join()).not.toContain('qcow2');
  });

  test.each([
    ['another pool', 'default', 'web-2c749204.qcow2'],
    ['a path instead of a name', 'headgate', '../web-2c749204.qcow2'],
  ])('removes nothing that the note claims in %s', async (_title, pool, name) => {
    libvirt.add(
      ourDomainXml({
        metadata: {
          owner: UUID,
          tags: [],
          isTemplate: false,
          isProtected: false,
          volumes: [{ pool, name, role: 'disk' }],
        },
      }),
    );
    await remover.remove(UUID);
    expect(removedVolumes()).toEqual([]);
  });

  test('leaves the disk of an attached volume that was there before', async () => {
    libvirt.add(ourDomainXml({ disk: { path: '/images/data.qcow2', format: 'qcow2' } }));
    expect((await remover.plan(UUID)).kept).toEqual(['/images/data.qcow2']);
  });

  test('can be done again after it was interrupted: volumes that are gone are passed over', async () => {
    libvirt.add(ourDomainXml());
    libvirt.pools.get('headgate')?.volumes.delete('web-2c749204.qcow2');
    await remover.remove(UUID);
    expect(libvirt.domains.size).toBe(0);
  });
});
