import { chmod, chown, mkdtemp, readdir, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FakeLibvirt } from '../testing/fake-libvirt.js';
import { StoragePool } from './storage-pool.js';

const GIB = 1024 ** 3;

describe('StoragePool', () => {
  test('accepts a file only if enough space stays free', async () => {
    const libvirt = new FakeLibvirt();
    libvirt.addPool('headgate', '/images/headgate');
    libvirt.pools.get('headgate')!.availableBytes = 3 * GIB;
    const pool = new StoragePool(libvirt.connection(), 'headgate', '/images/headgate');
    await pool.checkSpace(2 * GIB, GIB);
    await expect(pool.checkSpace(2 * GIB + 1, GIB)).rejects.toMatchObject({
      code: 'INSUFFICIENT_STORAGE',
      message: expect.stringContaining('3Gi'),
    });
  });
});

test('waits for a transfer of another VM, during which libvirt does not refresh a pool', async () => {
  const libvirt = new FakeLibvirt();
  libvirt.addPool('headgate', '/images/headgate', 'web.qcow2');
  const stderr = "error: internal error: pool 'headgate' has asynchronous jobs running.\n";
  libvirt.scripted.set('pool-refresh', { code: 1, stderr });
  const delays: number[] = [];
  const clock = {
    delay: async (ms: number) => {
      if (delays.push(ms) === 3) libvirt.scripted.delete('pool-refresh');
    },
  };
  const pool = new StoragePool(libvirt.connection(), 'headgate', '/images/headgate', clock);
  expect(await pool.volumes()).toEqual(['web.qcow2']);
  expect(delays).toHaveLength(3);
  libvirt.scripted.set('pool-refresh', { code: 1, stderr });
  await expect(pool.volumes()).rejects.toMatchObject({ code: 'BUSY' });
});

describe('moveInto', () => {
  let folder: string;

  beforeEach(async () => void (folder = await mkdtemp(join(tmpdir(), 'hgtest-pool-'))));
  afterEach(() => rm(folder, { recursive: true, force: true }));

  test('makes a private file a volume that only its owner can read, without a copy', async () => {
    const libvirt = new FakeLibvirt();
    libvirt.addPool('headgate', folder);
    const file = join(folder, 'private.tmp');
    await writeFile(file, 'image', { mode: 0o600 });
    const { ino } = await stat(file);
    await new StoragePool(libvirt.connection(), 'headgate', folder).moveInto('base.qcow2', file, { watermarkBytes: 0 });
    expect(await readdir(folder)).toEqual(['base.qcow2']);
    const volume = await stat(join(folder, 'base.qcow2'));
    expect(volume.ino).toBe(ino);
    expect(volume.mode & 0o777).toBe(0o600);
  });

  (process.getuid?.() === 0 ? test : test.skip)(
    'gives a volume to the owner of the folder, whose QEMU reads it',
    async () => {
      const libvirt = new FakeLibvirt();
      libvirt.addPool('headgate', folder);
      await chown(folder, 65_534, 65_534);
      const file = join(folder, 'private.tmp');
      await writeFile(file, 'image');
      await new StoragePool(libvirt.connection(), 'headgate', folder).moveInto('base.qcow2', file, {
        watermarkBytes: 0,
      });
      const { uid, gid, mode } = await stat(join(folder, 'base.qcow2'));
      expect([uid, gid, mode & 0o777]).toEqual([65_534, 65_534, 0o600]);
    },
  );

  test('closes volumes of earlier versions to other users, and follows no link', async () => {
    const libvirt = new FakeLibvirt();
    libvirt.addPool('headgate', folder);
    const [own, foreign, target] = ['base-1.qcow2', 'other.qcow2', 'target'].map((name) => join(folder, name));
    for (const path of [own, foreign, target]) {
      await writeFile(path!, 'image');
      await chmod(path!, 0o644);
    }
    await symlink(target!, join(folder, 'base-2.qcow2'));
    const pool = new StoragePool(libvirt.connection(), 'headgate', folder);
    await pool.makePrivate(['base-1.qcow2', 'base-2.qcow2', 'base-3.qcow2']);
    const modes = await Promise.all([own, foreign, target].map(async (path) => (await stat(path!)).mode & 0o777));
    expect(modes).toEqual([0o600, 0o644, 0o644]);
  });

  test('refuses a copy that would fill the pool', async () => {
    const libvirt = new FakeLibvirt();
    libvirt.addPool('headgate', join(folder, 'missing'));
    const file = join(folder, 'private.tmp');
    await writeFile(file, 'image');
    const pool = new StoragePool(libvirt.connection(), 'headgate', folder);
    const moved = pool.moveInto('base.qcow2', file, { watermarkBytes: Number.MAX_SAFE_INTEGER });
    await expect(moved).rejects.toMatchObject({ code: 'INSUFFICIENT_STORAGE' });
    expect(await readdir(folder)).toEqual(['private.tmp']);
  });
});
