import { execFile } from 'node:child_process';
import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { open as openFile, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { promisify } from 'node:util';
import type {
  Backend,
  ConsoleStream,
  InstantRestore,
  InstantRestoreReport,
  InstantRestoreSpec,
  PortableVm,
  ProofDisk,
} from '@headgate/domain-contracts';
import { DirectoryTarget, ResticRepository } from '@headgate/restic-repository';
import { InventoryRecorder, readUntil } from '@headgate/testing';
import type { LibvirtConnection } from '../connection/libvirt-connection.js';
import { RpcLibvirt } from '../rpc/rpc-libvirt.js';
import { POOL_NAME } from '../storage/storage-pool.js';
import { fileDisk, foreignDomainXml } from '../testing/domain-xml.js';
import { DyingConnection } from '../testing/dying-connection.js';
import { logIn, openShell, ROOT_LOGIN, shell } from '../testing/guest-shell.js';
import { writeIdleDisk } from '../testing/idle-disk.js';
import { LibvirtUnderTest, TEST_URI, whyLibvirtIsUnavailable } from '../testing/libvirt-under-test.js';
import { tinyGuest } from '../testing/tiny-guest.js';

const missing = await whyLibvirtIsUnavailable();
const describeWithLibvirt = missing === undefined ? describe : describe.skip;
const MIB = 1024 ** 2;
const DATA_BYTES = 32 * MIB;
const PASSWORD = 'correct horse';
/** Of the second disk. Systems read the end of a disk when they start. */
const HOLE_AT = 8 * MIB;
const HOLE_BYTES = 8 * MIB;
const MAX_CHANGES = 40;
const TEST_MS = 480_000;
const run = promisify(execFile);
const never = new AbortController().signal;

describeWithLibvirt(`Instant restores on libvirt${missing === undefined ? '' : `: skipped, ${missing}`}`, () => {
  let libvirt: LibvirtUnderTest;
  let backend: Backend;
  let restore: InstantRestore;
  let recorder: InventoryRecorder;
  let handle: FileHandle | undefined;

  const open = (connection?: LibvirtConnection): Backend => libvirt.backend(connection && { connection });
  const start = async (): Promise<void> => {
    backend = open();
    restore = backend.require('instantRestore');
    recorder = InventoryRecorder.over(backend.require('inventory'));
    await recorder.whenListed();
  };
  const restart = async (): Promise<void> => {
    await recorder.stop();
    await backend.close();
    await start();
  };
  beforeEach(async () => {
    libvirt = await LibvirtUnderTest.open();
    await start();
  });
  afterEach(async () => {
    await recorder?.stop();
    await handle?.close();
    handle = undefined;
    await libvirt?.close();
  }, 60_000);

  const virsh = async (...args: string[]): Promise<string> => (await libvirt.virsh.run(args)).trim();
  const vmOf = (disks: readonly ProofDisk[], more: Partial<PortableVm> = {}): PortableVm => ({
    cpu: 1,
    memoryBytes: 256 * MIB,
    arch: 'x86_64',
    firmware: 'bios',
    tpm: false,
    autostart: false,
    tags: [],
    disks: disks.map(({ name, sizeBytes }) => ({ name, sizeBytes, usedBytes: null, bus: 'virtio' })),
    nics: [],
    ...more,
  });
  const reserve = async (disks: readonly ProofDisk[], more: Partial<PortableVm> = {}) => {
    const target = { id: randomUUID(), ref: libvirt.refOf(libvirt.freshName()) };
    const spec: InstantRestoreSpec = { ...target, disks };
    const mapping = { networks: {}, storageClasses: {} };
    await backend.require('diskIngest').begin({ ...target, vm: vmOf(disks, more), mapping });
    return spec;
  };
  const silent = (more: Partial<InstantRestoreReport> = {}): InstantRestoreReport => ({
    starting: async () => undefined,
    started: () => undefined,
    copied: () => undefined,
    waits: () => undefined,
    ...more,
  });
  /** The folder with the socket of a restore. */
  const isServed = async ({ id }: InstantRestoreSpec): Promise<boolean> => {
    await virsh('pool-refresh', POOL_NAME);
    return (await virsh('vol-list', POOL_NAME)).includes(`restore-${id.replaceAll('-', '').slice(0, 12)} `);
  };
  const loggedIn = async ({ ref }: InstantRestoreSpec): Promise<ConsoleStream> => {
    await recorder.untilVm(ref, ({ status }) => status === 'Running');
    return openShell(backend.require('consoles'), ref);
  };
  /** Waits for its end also in a test that fails. */
  const follow = (work: Promise<unknown>): void => void work.catch(() => undefined);
  const memoryDisk = (content: Buffer, read?: ProofDisk['read']): ProofDisk => ({
    name: 'vda',
    sizeBytes: content.length,
    read: read ?? (async (offset, length) => content.subarray(offset, offset + length)),
  });
  const contentOf = async ({ ref }: InstantRestoreSpec, disk = 'vda'): Promise<Buffer> =>
    buffer(await backend.require('diskSource').open(ref, disk, never));

  /** The disk of the tiny guest in a repository, and a second one with random bytes, part of which can't be read. */
  const storedGuest = async (data: Buffer, reason: () => string | undefined): Promise<readonly ProofDisk[]> => {
    const path = join(libvirt.sharedDir, 'disk.raw');
    await run('qemu-img', ['convert', '-f', 'qcow2', '-O', 'raw', await tinyGuest(), path]);
    const raw = (handle = await openFile(path));
    const { size } = await raw.stat();
    const target = new DirectoryTarget(join(libvirt.sharedDir, 'repository'));
    const repository = await ResticRepository.create(target, PASSWORD, { scrypt: { n: 2, r: 1, p: 1 } });
    const { id } = await repository.backup(
      { hostname: 'here', paths: ['/vm'], tags: [], time: new Date() },
      async (writer) => {
        const read = async (offset: number, length: number): Promise<Buffer> =>
          (await raw.read(Buffer.alloc(length), 0, length, offset)).buffer;
        await writer.file('vda.raw', { size, read });
        await writer.file('vdb.raw', {
          size: data.length,
          read: async (offset, length) => data.subarray(offset, offset + length),
        });
      },
    );
    const opened = await ResticRepository.open(target, PASSWORD);
    const [boot, other] = [await opened.openFile(id, '/vda.raw'), await opened.openFile(id, '/vdb.raw')];
    return [
      { name: 'vda', sizeBytes: size, read: async (at, length) => Buffer.from(await boot.read(at, length)) },
      {
        name: 'vdb',
        sizeBytes: data.length,
        read: async (at, length) => {
          const found = at + length > HOLE_AT && at < HOLE_AT + HOLE_BYTES ? reason() : undefined;
          if (found !== undefined) throw new Error(found);
          return Buffer.from(await other.read(at, length));
        },
      },
    ];
  };

  test(
    'a guest keeps what it writes, also over a restart, a damaged block and a service that is away',
    async () => {
      const data = randomBytes(DATA_BYTES);
      let problem: string | undefined = 'blob 1234 is damaged';
      const spec = await reserve(await storedGuest(data, () => problem), { cloudInit: ROOT_LOGIN });
      const begun = performance.now();
      const times: Record<string, number> = {};
      const reasons = new Set<string>();
      const away = restore.run(
        spec,
        silent({
          started: () => void (times['started'] = performance.now() - begun),
          waits: (reason) => void reasons.add(reason),
        }),
        never,
      );
      follow(away);
      const stream = await loggedIn(spec);
      times['login'] = performance.now() - begun;
      await shell(stream, 'echo kept > /root/kept; sync');
      const part = `bs=1M skip=${HOLE_AT / MIB} count=4`;
      await shell(stream, `(dd if=/dev/vdb ${part} | md5sum > /root/sum; sync) 2>/dev/null & true`);
      const paused = await recorder.untilVm(spec.ref, ({ status }) => status === 'Paused');
      expect(paused.reason).toMatch(/waits for its backup/);
      expect([...reasons].join('\n')).toContain('blob 1234 is damaged');
      // QEMU has one client of the line at a time.
      stream.destroy();
      // The service is away, and its guest waits.
      await restart();
      await expect(away).rejects.toMatchObject({ code: 'SHUTTING_DOWN' });
      expect(await restore.state(spec)).toBe('running');
      expect(await virsh('domstate', spec.ref.name)).toBe('paused');
      problem = undefined;
      const work = restore.run(spec, silent(), never);
      follow(work);
      await recorder.untilVm(spec.ref, ({ status }) => status === 'Running');
      const { stream: again } = await backend.require('consoles').openSerial(spec.ref);
      again.write('\r');
      const expected = createHash('md5')
        .update(data.subarray(HOLE_AT, HOLE_AT + 4 * MIB))
        .digest('hex');
      expect(await shell(again, 'wait; cat /root/sum /root/kept')).toMatch(new RegExp(`${expected}[\\s\\S]*kept`));
      expect(await shell(again, 'dmesg | grep -ci "I/O error"')).toBe('0');
      expect(await work).toBe('complete');
      expect(await virsh('dumpxml', spec.ref.name)).not.toMatch(/protocol=.nbd|backup-restore/);
      expect(await virsh('dumpxml', '--inactive', spec.ref.name)).not.toMatch(/protocol=.nbd|error_policy/);
      expect(await isServed(spec)).toBe(false);
      expect(await shell(again, 'cat /root/kept')).toBe('kept');
      await backend.require('power').apply(spec.ref, 'stop', { force: true });
      await recorder.untilVm(spec.ref, ({ status }) => status === 'Stopped');
      expect((await contentOf(spec, 'vdb')).equals(data)).toBe(true);
      process.stderr.write(
        `instant restore: ${JSON.stringify({ ...times, bytes: spec.disks.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0) })}\n`,
      );
    },
    TEST_MS,
  );

  test(
    'a guest that is powered off in the middle starts again from the backup, and has its changes',
    async () => {
      const data = randomBytes(DATA_BYTES);
      let problem: string | undefined = 'the target is away';
      const spec = await reserve(await storedGuest(data, () => problem), { cloudInit: ROOT_LOGIN });
      const work = restore.run(spec, silent(), never);
      follow(work);
      const stream = await loggedIn(spec);
      await shell(stream, 'echo kept > /root/kept; sync');
      stream.destroy();
      const power = backend.require('power');
      await power.apply(spec.ref, 'stop', { force: true });
      await recorder.untilVm(spec.ref, ({ status }) => status === 'Stopped');
      await power.apply(spec.ref, 'start');
      // Not the prompt of the first boot.
      const { stream: again } = await backend.require('consoles').openSerial(spec.ref);
      await readUntil(again, /login: /);
      await logIn(again);
      expect(await shell(again, 'cat /root/kept')).toBe('kept');
      await power.apply(spec.ref, 'stop', { force: true });
      problem = undefined;
      expect(await work).toBe('complete');
      expect((await contentOf(spec, 'vdb')).equals(data)).toBe(true);
      expect(await isServed(spec)).toBe(false);
    },
    TEST_MS,
  );

  test('two VMs run from one backup, and the deletion of one leaves the other', async () => {
    const content = randomBytes(4 * MIB);
    let isRepaired = false;
    const disk = memoryDisk(content, async (offset, length) => {
      if (offset + length > 3 * MIB && !isRepaired) throw new Error('away');
      return content.subarray(offset, offset + length);
    });
    const [one, two] = [await reserve([disk]), await reserve([disk])];
    const works = [one, two].map((spec) => restore.run(spec, silent(), never));
    works.forEach(follow);
    for (const { ref } of [one, two]) await recorder.untilVm(ref, ({ status }) => status !== 'Provisioning');
    await backend.require('provisioning').delete(one.ref);
    expect(await works[0]).toBe('absent');
    expect((await libvirt.volumes()).filter((name) => name.startsWith(`${one.ref.name}-`))).toEqual([]);
    expect([await isServed(one), await isServed(two)]).toEqual([false, true]);
    await expect(backend.require('snapshots').create(two.ref, { name: 'now' })).rejects.toMatchObject({ code: 'BUSY' });
    isRepaired = true;
    expect(await works[1]).toBe('complete');
    expect(await isServed(two)).toBe(false);
  });

  test('a VM that is deleted as soon as it starts ends its restore', async () => {
    const spec = await reserve([memoryDisk(randomBytes(MIB))]);
    let deletion: Promise<unknown> = Promise.resolve();
    // It waits for the lock of the start, and has it before the restore goes on.
    const starting = async (): Promise<void> => void (deletion = backend.require('provisioning').delete(spec.ref));
    expect(await restore.run(spec, silent({ starting }), never)).toBe('absent');
    await deletion;
    expect(await isServed(spec)).toBe(false);
    expect((await libvirt.volumes()).filter((name) => name.startsWith(`${spec.ref.name}-`))).toEqual([]);
  });

  test(
    'a service that is killed before any of its changes leaves a VM that is complete later, or nothing',
    async () => {
      const content = Buffer.concat([randomBytes(2 * MIB), Buffer.alloc(MIB)]);
      const idle = join(libvirt.sharedDir, 'idle.qcow2');
      await writeIdleDisk(idle);
      const other = libvirt.freshName();
      await libvirt.define(foreignDomainXml({ name: other, disks: fileDisk(idle) }));
      await virsh('start', other);
      const outcomes: string[] = [];
      for (let last = 0; last < MAX_CHANGES; last++) {
        const spec = await reserve([memoryDisk(content)]);
        const dying = new DyingConnection(new RpcLibvirt({ uri: TEST_URI }), last);
        const victim = open(dying.open());
        const end = new AbortController();
        // A dead process repeats nothing.
        const report = silent({ waits: () => end.abort(new Error('dead')) });
        await victim
          .require('instantRestore')
          .run(spec, report, end.signal)
          .catch(() => undefined);
        await victim.close();
        await restart();
        const state = await restore.state(spec);
        outcomes.push(state);
        if (state === 'blank') {
          await backend.require('diskIngest').discard(spec);
          await restore.discard(spec);
        } else {
          expect(await restore.run(spec, silent(), never)).toBe('complete');
          await restore.discard(spec);
          await backend.require('power').apply(spec.ref, 'stop', { force: true });
          await recorder.untilVm(spec.ref, ({ status }) => status === 'Stopped');
          expect((await contentOf(spec)).equals(content)).toBe(true);
          await backend.require('provisioning').delete(spec.ref);
        }
        expect(await isServed(spec)).toBe(false);
        expect((await libvirt.volumes()).filter((name) => name.startsWith(`${spec.ref.name}-`))).toEqual([]);
        if (!dying.isDead) break;
      }
      expect(outcomes).toEqual(expect.arrayContaining(['blank', 'running', 'complete']));
      expect(await virsh('domstate', other)).toBe('running');
    },
    TEST_MS,
  );
});
