import { describeDomain } from '../domain-xml/domain-description.js';
import { LibvirtBackupSource, type LibvirtBackupSourceDeps } from './libvirt-backup-source.js';

const UUID = '2c749204-8322-4dfd-b324-cb2e556e0e9a';
const REF = { kind: 'vm', context: 'local', namespace: 'local', name: 'web' } as const;
const GIB = 1024 ** 3;

const xmlOf = (driver: string, disk: string): string => `<domain type='kvm' id='3'>
  <name>web</name><uuid>${UUID}</uuid><memory>1048576</memory><vcpu>1</vcpu><iothreads>1</iothreads>
  <os><type arch='x86_64' machine='q35'>hvm</type></os>
  <devices><disk type='file' device='disk'><driver type='qcow2' ${driver}/><source file='${disk}'/><target dev='vda' bus='virtio'/></disk></devices>
</domain>`;

describe('the check of a backup', () => {
  let isActive: boolean;
  let availableBytes: number;
  let driver: string;
  let disk: string;
  const measured: string[] = [];
  const source = new LibvirtBackupSource({
    connection: {
      uri: 'qemu:///system',
      backups: {
        checkpoints: async () => ['headgate-backup-one-0123456789ab', 'headgate-backup-lost-0123456789ab', 'other'],
        checkpointXml: async (_uuid: string, name: string) =>
          `<domaincheckpoint><disks><disk name='vda' checkpoint='bitmap' ${name.includes('-one-') ? `size='${GIB}'` : ''}/></disks></domaincheckpoint>`,
      },
    },
    finder: { find: async () => ({ uuid: UUID, name: 'web' }) },
    editor: { read: async () => ({ description: describeDomain(xmlOf(driver, disk)), isActive, isPersistent: true }) },
    holds: { has: () => false },
    pool: { name: 'headgate', space: async () => ({ isActive: true, availableBytes }) },
    images: {
      copyBytes: async (path: string) => {
        measured.push(path);
        return 20 * GIB;
      },
    },
    users: { own: () => 0, ownerOf: async () => 0 },
  } as unknown as LibvirtBackupSourceDeps);

  beforeEach(() => {
    [isActive, availableBytes, driver] = [true, 10 * GIB, "iothread='1'"];
    // A file that exists.
    disk = import.meta.filename;
    measured.splice(0);
  });

  test('refuses a whole copy that does not fit into the pool, before anything is copied', async () => {
    expect(await source.check(REF)).toEqual([
      {
        code: 'INSUFFICIENT_STORAGE',
        reason:
          'The storage pool headgate has 10Gi free, not enough for a copy of the disks of web, which takes up to 20Gi: a disk with an I/O thread is copied before it is read.',
        remedy: 'Free some space on the machine, or stop the VM.',
      },
    ]);
    expect(await source.check(REF, 'two')).toHaveLength(1);
    // Its record of changes is lost, so that all is copied.
    expect(await source.check(REF, 'lost')).toHaveLength(1);
    expect(measured).toEqual(Array(3).fill(disk));
  });

  test('needs space for the changes since the checkpoint of the series only', async () => {
    expect(await source.check(REF, 'one')).toEqual([]);
    availableBytes = GIB + 1000;
    expect(await source.check(REF, 'one')).toMatchObject([{ reason: expect.stringContaining('takes up to 1Gi:') }]);
    expect(measured).toEqual([]);
  });

  test('refuses a copy of a disk that the service can not read, and reads others from QEMU', async () => {
    disk = '/nonexistent/web.qcow2';
    expect(await source.check(REF)).toMatchObject([{ code: 'VOLUME_NOT_FOUND' }]);
    driver = '';
    expect(await source.check(REF)).toEqual([]);
    expect(measured).toEqual([]);
  });

  test('needs little space for a VM without I/O threads, and none for one that is stopped', async () => {
    driver = '';
    expect(await source.check(REF)).toEqual([]);
    availableBytes = 1000;
    expect(await source.check(REF)).toMatchObject([{ reason: expect.stringContaining('what web writes while') }]);
    [isActive, driver] = [false, "iothread='1'"];
    expect(await source.check(REF)).toEqual([]);
    expect(measured).toEqual([]);
  });
});
