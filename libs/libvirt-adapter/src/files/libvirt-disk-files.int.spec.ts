import { execFile } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { mkdir, mkdtemp, open as openFile, readdir, readFile, rm, writeFile, type FileHandle } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { promisify } from 'node:util';
import type { Backend, DiskFiles, FileEntry, OpenedFiles, ProofDisk } from '@headgate/domain-contracts';
import { createdVm, InventoryRecorder, recordingReporter, type BackendHarness } from '@headgate/testing';
import type { LibvirtConnection } from '../connection/libvirt-connection.js';
import { RpcLibvirt } from '../rpc/rpc-libvirt.js';
import { POOL_NAME } from '../storage/storage-pool.js';
import { describeDomain } from '../domain-xml/domain-description.js';
import { DyingConnection } from '../testing/dying-connection.js';
import {
  BIG,
  DATE,
  FILE_SYSTEMS,
  ODD_TEXT,
  writeLvm,
  writePartitioned,
  WRITERS,
  writeTree,
  type FileSystemName,
} from '../testing/file-systems.js';
import { LibvirtUnderTest, TEST_URI, whyLibvirtIsUnavailable } from '../testing/libvirt-under-test.js';
import { readerGuest } from '../testing/reader-guest.js';
import { TINY_ENTRY } from '../testing/tiny-guest.js';

const missing = await whyLibvirtIsUnavailable();
const describeWithLibvirt = missing === undefined ? describe : describe.skip;
const GUEST_MS = 480_000;
const MAX_CHANGES = 40;
const MIB = 1024 ** 2;
const RANGE = { skip: 0, limit: 100 };
const HOSTS = '127.0.0.1 localhost\n';
const run = promisify(execFile);
const never = new AbortController().signal;

/** The first program that is not installed. */
async function missingProgram(names: readonly string[]): Promise<string | undefined> {
  for (const name of names) {
    const found = await run('sh', ['-c', `PATH="$PATH:/usr/sbin:/sbin" command -v ${name}`]).catch(() => undefined);
    if (!found) return name;
  }
  return undefined;
}
const absent = Object.fromEntries(
  await Promise.all(Object.entries(WRITERS).map(async ([name, names]) => [name, await missingProgram(names)] as const)),
);
const loops = await run('losetup', ['--find']).then(
  () => absent['lvm'] ?? absent['ext4'],
  () => 'a free loop device',
);
/** Without a program that writes the disk, the test is listed with the reason. */
const testWith = (program: string | undefined) => (name: string, run: () => Promise<void>, ms: number) =>
  program === undefined ? test(name, run, ms) : test.skip(`${name}: skipped, ${program} is missing`, run, ms);

describeWithLibvirt(`Files on disks${missing === undefined ? '' : `: skipped, ${missing}`}`, () => {
  let images: string;
  let libvirt: LibvirtUnderTest;
  let backend: Backend;
  let files: DiskFiles;
  let recorder: InventoryRecorder;
  let handles: FileHandle[] = [];
  let sessions: OpenedFiles[] = [];

  beforeAll(async () => {
    images = await mkdtemp(join(tmpdir(), 'hgtest-files-'));
    await mkdir(join(images, 'tree'));
    await writeTree(join(images, 'tree'));
  });
  afterAll(() => rm(images, { recursive: true, force: true }));

  const open = async (connection?: LibvirtConnection): Promise<Backend> =>
    libvirt.backend({ readerGuest: await readerGuest(), ...(connection && { connection }) });
  const start = async (): Promise<void> => {
    backend = await open();
    files = backend.require('diskFiles');
    recorder = InventoryRecorder.over(backend.require('inventory'));
    await recorder.whenListed();
  };
  beforeEach(async () => {
    libvirt = await LibvirtUnderTest.open();
    await start();
  });
  afterEach(async () => {
    for (const session of sessions) await session.close();
    sessions = [];
    await recorder?.stop();
    for (const handle of handles) await handle.close();
    handles = [];
    await libvirt?.close();
  }, 60_000);

  const imageOf = async (name: FileSystemName): Promise<string> => {
    const path = join(images, `${name}.img`);
    const isThere = await readFile(path, { flag: 'r' }).then(
      () => true,
      () => false,
    );
    if (!isThere) await FILE_SYSTEMS[name](path, join(images, 'tree'));
    return path;
  };
  const diskOf = async (path: string, name = 'vda'): Promise<ProofDisk> => {
    const handle = await openFile(path);
    handles.push(handle);
    const { size } = await handle.stat();
    return {
      name,
      sizeBytes: size,
      read: async (offset, length) => (await handle.read(Buffer.alloc(length), 0, length, offset)).buffer,
    };
  };
  const opened = async (...disks: readonly ProofDisk[]): Promise<OpenedFiles> => {
    const session = await files.open({ id: randomUUID(), disks }, never);
    sessions.push(session);
    return session;
  };
  const contentOf = async (session: OpenedFiles, volume: number, path: string): Promise<Buffer> =>
    buffer((await session.read(volume, path, never)).stream);
  const named = (entries: readonly FileEntry[], name: string) => entries.find((entry) => entry.name === name);
  const virsh = async (...args: string[]): Promise<string> => (await libvirt.virsh.run(args)).trim();
  const leftovers = async (): Promise<string[]> => {
    const domains = (await virsh('list', '--all', '--name')).split('\n').filter((name) => name !== '');
    await virsh('pool-refresh', POOL_NAME).catch(() => undefined);
    const listed = await virsh('vol-list', POOL_NAME).catch(() => '');
    const volumes = listed.split('\n').filter((line) => line.includes('files-'));
    const marks = await readdir(join(libvirt.dataDir, 'libvirt', 'local', 'files')).catch(() => []);
    return [...domains, ...volumes, ...marks];
  };

  testWith(absent['ext4'])(
    'files, folders, links and odd names come out of an ext4 disk, which stays as it was',
    async () => {
      const image = await imageOf('ext4');
      const before = await readFile(image);
      const began = Date.now();
      const session = await opened(await diskOf(image));
      const { entries, total } = await session.list(0, '/', RANGE);
      const listedMs = Date.now() - began;
      process.stdout.write(`${JSON.stringify({ measured: 'first list of ext4', ms: listedMs })}\n`);
      expect(session.volumes).toEqual([
        { number: 0, disk: 'vda', name: 'vda', fileSystem: 'ext4', label: 'root', sizeBytes: 32 * MIB },
      ]);
      expect(total).toBe(entries.length);
      expect(named(entries, 'etc')).toMatchObject({ kind: 'folder', sizeBytes: 0, mode: 0o755 });
      expect(named(entries, 'big.bin')).toMatchObject({ kind: 'file', sizeBytes: BIG.length });
      expect(named(entries, 'link')).toMatchObject({ kind: 'link', target: '/etc' });
      expect(named(entries, 'pipe')).toMatchObject({ kind: 'other' });
      expect(named(entries, ODD_TEXT)).toMatchObject({ kind: 'file', sizeBytes: 3 });
      const etc = await session.list(0, '/etc', RANGE);
      expect(named(etc.entries, 'hosts')).toMatchObject({ modifiedAt: DATE.toISOString(), sizeBytes: HOSTS.length });

      expect((await contentOf(session, 0, '/etc/hosts')).toString()).toBe(HOSTS);
      expect((await contentOf(session, 0, `/${ODD_TEXT}`)).toString()).toBe('odd');
      expect((await contentOf(session, 0, '/big.bin')).equals(BIG)).toBe(true);
      expect((await contentOf(session, 0, '/sparse')).equals(Buffer.alloc(8 * MIB))).toBe(true);
      expect(before.equals(await readFile(image))).toBe(true);
    },
    GUEST_MS,
  );

  testWith(absent['ext4'])(
    'links are not followed, pipes are not opened, and pages are cut',
    async () => {
      const session = await opened(await diskOf(await imageOf('ext4')));
      const wrong = expect.objectContaining({ code: 'WRONG_STATE' });
      await expect(session.list(0, '/link', RANGE)).rejects.toEqual(wrong);
      await expect(session.read(0, '/link/hosts', never)).rejects.toEqual(wrong);
      await expect(session.read(0, '/etc/up', never)).rejects.toEqual(wrong);
      await expect(session.read(0, '/pipe', never)).rejects.toEqual(wrong);
      await expect(session.read(0, '/etc', never)).rejects.toEqual(wrong);
      await expect(session.archive(0, '/big.bin', never)).rejects.toEqual(wrong);
      const lost = expect.objectContaining({ code: 'FILE_NOT_FOUND' });
      await expect(session.read(0, '/none', never)).rejects.toEqual(lost);
      await expect(session.list(0, '/etc/none', RANGE)).rejects.toEqual(lost);
      await expect(session.list(0, `/${'x'.repeat(300)}`, RANGE)).rejects.toMatchObject({ code: 'BACKEND_FAILED' });
      const all = await session.list(0, '/', RANGE);
      const first = await session.list(0, '/', { skip: 0, limit: 2 });
      const rest = await session.list(0, '/', { skip: 2, limit: 1000 });
      expect([...first.entries, ...rest.entries]).toEqual(all.entries);
      expect(first.total).toBe(all.total);
      expect((await session.list(0, '/', { skip: 5000, limit: 5 })).entries).toEqual([]);
    },
    GUEST_MS,
  );

  testWith(absent['ext4'])(
    'a folder comes as an archive that tar unpacks, with a list of the entries that are missing',
    async () => {
      const session = await opened(await diskOf(await imageOf('ext4')));
      const archive = join(libvirt.sharedDir, 'files.tar');
      await writeFile(archive, await buffer(await session.archive(0, '/', never)));
      const target = join(libvirt.sharedDir, 'unpacked');
      await mkdir(target);
      await run('tar', ['-xf', archive, '-C', target]);
      expect(await readFile(join(target, 'etc/deep/er/end'), 'utf8')).toBe('the end\n');
      expect(BIG.equals(await readFile(join(target, 'big.bin')))).toBe(true);
      expect(await readFile(join(target, 'HEADGATE-NOT-IN-THIS-ARCHIVE.txt'), 'utf8')).toContain('pipe: a device');
      const names = await readdir(Buffer.from(target), { encoding: 'buffer' });
      expect(names.map((name) => Buffer.from(name).toString('latin1'))).toContain('bad\xff\n%');
      // Other downloads go on meanwhile, and two at a time.
      const slow = await session.archive(0, '/', never);
      expect((await contentOf(session, 0, '/etc/hosts')).toString()).toBe(HOSTS);
      const second = await session.read(0, '/sparse', never);
      await expect(session.read(0, '/etc/hosts', never)).rejects.toMatchObject({ code: 'BUSY' });
      expect((await session.list(0, '/etc', RANGE)).total).toBeGreaterThan(2);
      slow.destroy();
      second.stream.destroy();
      await until(async () => (await contentOf(session, 0, '/etc/hosts').catch(() => '')).toString() === HOSTS);
      await session.close();
      expect(await leftovers()).toEqual([]);
    },
    GUEST_MS,
  );

  const others = ['ntfs', 'vfat', 'btrfs', 'xfs'] as const;
  testWith(others.map((name) => absent[name]).find((name) => name !== undefined))(
    'files come out of NTFS, FAT, Btrfs and XFS',
    async () => {
      const disks = await Promise.all(others.map(async (name) => diskOf(await imageOf(name), name)));
      const session = await opened(...disks);
      expect(session.volumes.map(({ disk, fileSystem }) => [disk, fileSystem])).toEqual(
        others.map((name) => [name, name]),
      );
      for (const [volume, name] of others.entries()) {
        const { entries } = await session.list(volume, '/', RANGE);
        expect(named(entries, 'big.bin')).toMatchObject({ kind: 'file', sizeBytes: BIG.length });
        const hosts = name === 'btrfs' ? '/etc/hosts' : '/hosts';
        expect((await contentOf(session, volume, hosts)).toString()).toBe(HOSTS);
        expect((await contentOf(session, volume, '/big.bin')).equals(BIG)).toBe(true);
      }
    },
    GUEST_MS,
  );

  testWith(loops)(
    'files come out of logical volumes, and of a partition',
    async () => {
      const ext4 = await imageOf('ext4');
      const [lvm, parts] = [join(images, 'lvm.img'), join(images, 'parts.img')];
      await writeLvm(lvm, `hg-${randomBytes(4).toString('hex')}`, [ext4, ext4]);
      await writePartitioned(parts, ext4, 32 * MIB);
      const session = await opened(await diskOf(parts, 'sda'), await diskOf(lvm, 'sdb'));
      const names = session.volumes.map(({ disk, name }) => `${disk} ${name.replace(/hg-[0-9a-f]+/, 'hg')}`);
      expect(names).toEqual(['sda vda1', 'sda vda2', 'sdb hg/root', 'sdb hg/data-x']);
      expect(session.volumes[0]?.problem).toBe('It has no file system that is known here.');
      for (const volume of [1, 2, 3]) expect((await contentOf(session, volume, '/etc/hosts')).toString()).toBe(HOSTS);
    },
    GUEST_MS,
  );

  test(
    'encrypted and damaged file systems are reported, and random content is no file system',
    async () => {
      const write = async (name: string, ...parts: readonly (readonly [at: number, bytes: string])[]) => {
        const content = Buffer.alloc(4 * MIB);
        for (const [at, bytes] of parts) content.write(bytes, at, 'latin1');
        const path = join(images, name);
        await writeFile(path, content);
        return diskOf(path, name);
      };
      const random = join(images, 'random');
      await writeFile(random, randomBytes(4 * MIB));
      const session = await opened(
        await write('luks', [0, 'LUKS\xba\xbe']),
        await write('bitlocker', [3, '-FVE-FS-']),
        await write('raid', [4096, '\xfc\x4e\x2b\xa9']),
        await write('zfs', [131_072, '\x0c\xb1\xba\x00\x00\x00\x00\x00']),
        await write('swap', [4086, 'SWAPSPACE2']),
        await write('lvm', [512, 'LABELONE']),
        await write('ext4', [1024 + 56, '\x53\xef']),
        await write('xfs', [0, 'XFSB']),
        await write('btrfs', [65_536 + 64, '_BHRfS_M']),
        await write('ntfs', [3, 'NTFS    ']),
        await diskOf(random, 'random'),
      );
      const problems = Object.fromEntries(session.volumes.map(({ disk, problem }) => [disk, problem ?? '']));
      expect(problems['luks']).toContain('LUKS');
      expect(problems['bitlocker']).toContain('BitLocker');
      expect(problems['raid']).toContain('RAID');
      expect(problems['zfs']).toContain('ZFS');
      expect(problems['swap']).toContain('swap');
      expect(problems['lvm']).toContain('LVM');
      for (const name of ['ext4', 'xfs', 'btrfs', 'ntfs']) {
        const { number } = session.volumes.find(({ disk }) => disk === name) ?? { number: -1 };
        await expect(session.list(number, '/', RANGE)).rejects.toMatchObject({
          code: 'BACKEND_FAILED',
          message: expect.stringContaining("can't be mounted"),
        });
      }
      // The guest goes on.
      await expect(session.list(0, '/', RANGE)).rejects.toMatchObject({ code: 'NOT_SUPPORTED' });
    },
    GUEST_MS,
  );

  testWith(absent['ext4'])(
    'a snapshot has the files of its moment, and is not deleted while they are read',
    async () => {
      const image = join(libvirt.sharedDir, 'files.qcow2');
      await run('qemu-img', ['convert', '-f', 'raw', '-O', 'qcow2', await imageOf('ext4'), image]);
      await recorder.stop();
      await backend.close();
      const from = { readerGuest: await readerGuest(), tinyGuest: () => Promise.resolve(image) };
      backend = libvirt.backend(from);
      files = backend.require('diskFiles');
      recorder = InventoryRecorder.over(backend.require('inventory'));
      await recorder.whenListed();
      const harness = {
        backend,
        freshRef: () => libvirt.refOf(libvirt.freshName()),
        quickSource: async () => ({ kind: 'image', entry: TINY_ENTRY }),
      } as unknown as BackendHarness;
      const { ref } = await createdVm(harness, recorder);
      const snapshots = backend.require('snapshots');
      await (await snapshots.create(ref, { name: 'one' })).remaining?.(recordingReporter());
      const disk = describeDomain(await virsh('dumpxml', ref.name)).disks[0]?.path ?? '';
      await run('qemu-io', ['-f', 'qcow2', '-c', 'write -z 0 1M', disk]);

      const source = backend.require('backupSource');
      const saved = await source.openSnapshot(ref, 'one', never);
      const session = await opened(...saved.disks);
      expect((await contentOf(session, 0, '/etc/hosts')).toString()).toBe(HOSTS);
      await expect(snapshots.delete(ref, 'one')).rejects.toMatchObject({ code: 'BUSY' });
      await session.close();
      await saved.close();
      await expect(source.openSnapshot(ref, 'two', never)).rejects.toMatchObject({ code: 'SNAPSHOT_NOT_FOUND' });
      await (await snapshots.delete(ref, 'one')).remaining?.(recordingReporter());
      await backend.require('provisioning').delete(ref);
    },
    GUEST_MS,
  );

  testWith(absent['ext4'])(
    'the guest is isolated and hidden, and a session whose guest is killed ends',
    async () => {
      const id = randomUUID();
      const session = await files.open({ id, disks: [await diskOf(await imageOf('ext4'))] }, never);
      sessions.push(session);
      const xml = await virsh('dumpxml', id);
      expect(xml).toContain(`<name>headgate-files-${id}</name>`);
      expect(xml).not.toMatch(/<interface|<hostdev|<filesystem|<shmem|<redirdev|<graphics|<serial type|<console/);
      expect(xml.match(/<readonly\/>/g)).toHaveLength(1);
      expect(recorder.calls.filter((call) => call.includes('headgate-files'))).toEqual([]);
      const { stream } = await session.read(0, '/sparse', never);
      const broken = expect(buffer(stream)).rejects.toMatchObject({ code: 'BACKEND_FAILED' });
      await virsh('destroy', id);
      await broken;
      await session.ended;
      await expect(session.list(0, '/', RANGE)).rejects.toMatchObject({ code: 'BACKEND_FAILED' });
      expect(await leftovers()).toEqual([]);
    },
    GUEST_MS,
  );

  testWith(absent['ext4'])(
    'a service that was killed at any moment leaves nothing after its next start',
    async () => {
      const image = await imageOf('ext4');
      let steps = 0;
      for (let last = 0; last < MAX_CHANGES; last++) {
        const dying = new DyingConnection(new RpcLibvirt({ uri: TEST_URI }), last);
        const victim = await open(dying.open());
        const disk = await diskOf(image);
        // The guest has begun. Its end is not needed for the changes after that.
        const gone = new AbortController();
        const read: ProofDisk['read'] = (offset, length) => {
          gone.abort(new Error('gone'));
          return disk.read(offset, length);
        };
        const opening = victim.require('diskFiles').open({ id: randomUUID(), disks: [{ ...disk, read }] }, gone.signal);
        await opening.catch(() => undefined);
        await victim.close();
        await recorder.stop();
        await backend.close();
        await start();
        await until(async () => (await leftovers()).length === 0);
        if (!dying.isDead) break;
        steps++;
      }
      expect(steps).toBeGreaterThan(3);
    },
    GUEST_MS,
  );
});

async function until(isMet: () => Promise<boolean>): Promise<void> {
  while (!(await isMet())) await new Promise((resolve) => setTimeout(resolve, 20));
}
