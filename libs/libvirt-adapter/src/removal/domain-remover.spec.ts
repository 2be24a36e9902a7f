import { fileDisk, foreignDomainXml, volumeDisk } from '../testing/domain-xml.js';
import { ownDomainXml, UUID } from '../testing/domain-xml.js';
import { FakeLibvirt } from '../testing/fake-libvirt.js';
import { DomainFinder } from '../domains/domain-finder.js';
import { StoragePool } from '../storage/storage-pool.js';
import { DomainEditor } from '../domains/domain-editor.js';
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
    const connection = libvirt.connection();
    const finder = new DomainFinder('local', connection);
    remover = new DomainRemover(
      connection,
      finder,
      new StoragePool(connection, 'headgate', '/images/headgate'),
      new DomainEditor(connection),
    );
  });

  const removedVolumes = () => libvirt.changes.filter((change) => change.startsWith('vol-delete'));

  test('removes the domain with the volumes that were created for it, including rotated logs', async () => {
    libvirt.add(ownDomainXml(), 'running (booted)');
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

  test('removes no volumes of a copied domain', async () => {
    // virt-clone copies the metadata, including the UUID of the original domain.
    libvirt.add(ownDomainXml().replaceAll(`<uuid>${UUID}`, `<uuid>${OTHER}`));
    await remover.remove(OTHER);
    expect(removedVolumes()).toEqual([]);
    expect(libvirt.domains.size).toBe(0);
  });

  test('removes no disks of a foreign domain', async () => {
    libvirt.add(foreignDomainXml({ name: 'old', uuid: OTHER, disks: fileDisk('/images/headgate/kept.qcow2') }));
    expect((await remover.plan(OTHER)).kept).toEqual(['/images/headgate/kept.qcow2']);
    await remover.remove(OTHER);
    expect(removedVolumes()).toEqual([]);
  });

  test('keeps a volume that another domain uses', async () => {
    libvirt.add(ownDomainXml());
    libvirt.add(
      foreignDomainXml({ name: 'other', uuid: OTHER, disks: fileDisk('/images/headgate/web-2c749204.qcow2') }),
    );
    expect((await remover.plan(UUID)).kept).toEqual(['/images/headgate/web-2c749204.qcow2']);
    await remover.remove(UUID);
    expect(removedVolumes().join()).not.toContain('qcow2');
  });

  test.each([
    ['an overlay of another domain', fileDisk('/images/overlay.qcow2')],
    ['a disk of type volume', volumeDisk('headgate', 'web-2c749204.qcow2')],
  ])('keeps a volume that is used through %s', async (_title, disks) => {
    libvirt.pools.get('default')?.volumes.add('overlay.qcow2');
    libvirt.backing.set('/images/overlay.qcow2', '/images/headgate/web-2c749204.qcow2');
    libvirt.add(ownDomainXml());
    libvirt.add(foreignDomainXml({ name: 'other', uuid: OTHER, disks }));
    expect((await remover.plan(UUID)).kept).toEqual(['/images/headgate/web-2c749204.qcow2']);
    await remover.remove(UUID);
    expect(removedVolumes().join()).not.toContain('qcow2');
  });

  test('removes the overlays of its external snapshots', async () => {
    const folder = '/images/headgate';
    const volumes = libvirt.pools.get('headgate')!.volumes.add('web-2c749204.snap1').add('web-2c749204.snap2');
    libvirt.backing.set(`${folder}/web-2c749204.snap2`, `${folder}/web-2c749204.snap1`);
    libvirt.backing.set(`${folder}/web-2c749204.snap1`, `${folder}/web-2c749204.qcow2`);
    libvirt.add(ownDomainXml({ disk: { path: `${folder}/web-2c749204.snap2`, format: 'qcow2' } }));
    expect((await remover.plan(UUID)).kept).toEqual([]);
    await remover.remove(UUID);
    expect([...volumes]).toEqual(['kept.qcow2']);
  });

  test('keeps an overlay and its base if another domain uses the overlay', async () => {
    const folder = '/images/headgate';
    libvirt.pools.get('headgate')!.volumes.add('web-2c749204.snap1');
    libvirt.backing.set(`${folder}/web-2c749204.snap1`, `${folder}/web-2c749204.qcow2`);
    libvirt.add(ownDomainXml({ disk: { path: `${folder}/web-2c749204.snap1`, format: 'qcow2' } }));
    libvirt.add(foreignDomainXml({ name: 'other', uuid: OTHER, disks: fileDisk(`${folder}/web-2c749204.snap1`) }));
    await remover.remove(UUID);
    expect(removedVolumes().join()).not.toMatch(/qcow2|snap1/);
  });

  test.each([
    ['another pool', 'default', 'web-2c749204.qcow2'],
    ['a path instead of a name', 'headgate', '../web-2c749204.qcow2'],
  ])('ignores metadata that names %s', async (_title, pool, name) => {
    libvirt.add(
      ownDomainXml({
        metadata: {
          owner: UUID,
          tags: [],
          isTemplate: false,
          isProtected: false,
          snapshots: [],
          volumes: [{ pool, name, role: 'disk' }],
        },
      }),
    );
    await remover.remove(UUID);
    expect(removedVolumes()).toEqual([]);
  });

  test('keeps a disk that existed before the VM', async () => {
    libvirt.add(ownDomainXml({ disk: { path: '/images/data.qcow2', format: 'qcow2' } }));
    expect((await remover.plan(UUID)).kept).toEqual(['/images/data.qcow2']);
  });

  test('can be repeated after an interruption and skips missing volumes', async () => {
    libvirt.add(ownDomainXml());
    libvirt.pools.get('headgate')?.volumes.delete('web-2c749204.qcow2');
    await remover.remove(UUID);
    expect(libvirt.domains.size).toBe(0);
  });
});
