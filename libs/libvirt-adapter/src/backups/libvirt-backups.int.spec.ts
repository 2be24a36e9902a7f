import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { gunzipSync } from 'node:zlib';
import {
  backupImageName,
  type Backend,
  type BackupRequest,
  type Checkpoint,
  type InstanceBackups,
  type InstanceRef,
} from '@headgate/domain-contracts';
import { createdVm, InventoryRecorder, recordingReporter, type BackendHarness } from '@headgate/testing';
import type { LibvirtConnection } from '../connection/libvirt-connection.js';
import { describeDomain } from '../domain-xml/domain-description.js';
import { RpcLibvirt } from '../rpc/rpc-libvirt.js';
import { fileDisk, foreignDomainXml } from '../testing/domain-xml.js';
import { DyingConnection } from '../testing/dying-connection.js';
import { IDLE_TEXT, writeIdleDisk } from '../testing/idle-disk.js';
import { LibvirtUnderTest, TEST_URI, whyLibvirtIsUnavailable } from '../testing/libvirt-under-test.js';
import { TINY_ENTRY, tinyGuest } from '../testing/tiny-guest.js';
import { untilPrinted } from '../testing/until-printed.js';
import { COPY_SUFFIX } from './backup-job.js';

const missing = await whyLibvirtIsUnavailable();
const describeWithLibvirt = missing === undefined ? describe : describe.skip;
const BOOT_MS = 240_000;
const MAX_CHANGES = 20;
const KILLS_MS = 600_000;
const run = promisify(execFile);
const never = new AbortController().signal;

describeWithLibvirt(`Backups on libvirt${missing === undefined ? '' : `: skipped, ${missing}`}`, () => {
  let libvirt: LibvirtUnderTest;
  let backend: Backend;
  let backups: InstanceBackups;
  let recorder: InventoryRecorder;
  /** The disk image of new VMs. */
  let image: string;

  const open = (connection?: LibvirtConnection): Backend =>
    libvirt.backend({ tinyGuest: () => Promise.resolve(image), ...(connection && { connection }) });
  const start = async (): Promise<void> => {
    backend = open();
    backups = backend.require('backups');
    recorder = InventoryRecorder.over(backend.require('inventory'));
    await recorder.whenListed();
  };
  const stop = async (): Promise<void> => {
    await recorder.stop();
    await backend.close();
  };
  beforeEach(async () => {
    libvirt = await LibvirtUnderTest.open();
    image = join(libvirt.sharedDir, 'idle.qcow2');
    await writeIdleDisk(image);
    await start();
  });
  afterEach(async () => {
    await recorder?.stop();
    await libvirt?.close();
  }, 60_000);

  const harness = (): BackendHarness =>
    ({
      backend,
      freshRef: () => libvirt.refOf(libvirt.freshName()),
      quickSource: async () => ({ kind: 'image', entry: TINY_ENTRY }),
    }) as unknown as BackendHarness;
  /** QEMU 7.2 can crash when a guest resets its disk, as it does while it boots, and a backup begins. */
  const untilBooted = (ref: InstanceRef, times = 1): Promise<void> =>
    untilPrinted(libvirt.virsh, ref, new RegExp(`(${IDLE_TEXT}[^]*){${times}}`));
  const runningVm = async (): Promise<InstanceRef> => {
    const { ref } = await createdVm(harness(), recorder, { start: true });
    await untilBooted(ref);
    return ref;
  };
  const runningLinux = async (): Promise<InstanceRef> => {
    image = await tinyGuest();
    const { ref } = await createdVm(harness(), recorder, { start: true });
    await recorder.untilVm(ref, ({ agentConnected }) => agentConnected);
    return ref;
  };
  const virsh = async (...args: string[]): Promise<string> => (await libvirt.virsh.run(args)).trim();
  const describeVm = async ({ name }: InstanceRef) => describeDomain(await virsh('dumpxml', name));
  const diskOf = async (ref: InstanceRef): Promise<string> => (await describeVm(ref)).disks[0]?.path ?? '';
  /** Writes to the disk as the guest would, through the QEMU that runs it. */
  const write = async ({ name }: InstanceRef, offset: string, pattern: number): Promise<void> => {
    const nodes = await virsh('qemu-monitor-command', name, '--pretty', '{"execute":"query-block"}');
    const qdev = /"qdev": "(\/machine\/peripheral\/virtio-disk0\/virtio-backend)"/.exec(nodes)?.[1] ?? '';
    const command = `qemu-io -d ${qdev} "write -P ${pattern} ${offset} 1M"`;
    expect(await virsh('qemu-monitor-command', name, '--hmp', command)).not.toMatch(/rror/);
  };
  const closed = (stream: Readable): Promise<unknown> =>
    new Promise((resolve) => stream.on('error', () => undefined).once('close', resolve));
  const download = async (ref: InstanceRef, request: BackupRequest): Promise<Buffer> => {
    const stream = await backups.open(ref, request, never);
    const end = closed(stream);
    const content = await buffer(stream);
    await end;
    return content;
  };
  const full = (checkpoint: string): BackupRequest => ({ checkpoint, format: 'qcow2' });
  const save = async (ref: InstanceRef, file: string, request: BackupRequest): Promise<string> => {
    const path = join(libvirt.sharedDir, file);
    await writeFile(path, await download(ref, request));
    return path;
  };
  const names = async (ref: InstanceRef): Promise<string[]> => (await backups.list(ref)).map(({ name }) => name);
  const isBackingUp = async ({ name }: InstanceRef): Promise<boolean> =>
    virsh('backup-dumpxml', name).then(
      () => true,
      () => false,
    );
  /** Nothing of an export is left, and the guest runs. */
  const expectClean = async (ref: InstanceRef): Promise<void> => {
    expect((await libvirt.volumes()).filter((volume) => volume.endsWith(COPY_SUFFIX))).toEqual([]);
    const { metadata } = await describeVm(ref);
    expect([metadata.backup, metadata.volumes.filter(({ role }) => role === 'backup')]).toEqual([undefined, []]);
    expect([await virsh('domstate', ref.name), await isBackingUp(ref)]).toEqual(['running', false]);
  };
  const compare = async (one: readonly [string, string], other: readonly [string, string]): Promise<void> => {
    const args = ['compare', '-U', '-f', one[0], '-F', other[0], one[1], other[1]];
    expect((await run('qemu-img', args)).stdout).toContain('Images are identical');
  };

  test(
    'a whole disk and the changes since then, in one folder, are the disk of the guest',
    async () => {
      const ref = await runningLinux();
      const inGuest = async (script: string): Promise<void> => {
        const request = { path: '/bin/sh', args: ['-c', script], timeoutMs: 60_000 };
        expect(await backend.require('guestControl').run(ref, request)).toMatchObject({ exitCode: 0 });
      };
      await inGuest('yes first | head -c 3000000 > /root/first; sync');
      const base = await save(ref, backupImageName(ref.name, 'one'), full('one'));
      const raw = join(libvirt.sharedDir, `${ref.name}-raw.img`);
      await writeFile(raw, gunzipSync(await download(ref, { checkpoint: 'raw', format: 'raw.gz' })));
      await inGuest('yes second | head -c 2000000 > /root/second; head -c 3000000 /dev/zero > /root/first; sync');
      const next = await save(ref, backupImageName(ref.name, 'two'), { since: 'one', checkpoint: 'two' });
      await inGuest('rm /root/second; echo third > /root/third; sync');
      await backend.require('power').apply(ref, 'pause');
      const last = await save(ref, `${ref.name}-since-two.qcow2`, { since: 'two' });
      const onRaw = await save(ref, `${ref.name}-since-raw.qcow2`, { since: 'raw' });
      expect((await backups.list(ref)).map(({ name, ready }) => [name, ready])).toEqual([
        ['one', true],
        ['raw', true],
        ['two', true],
      ]);
      await backend.require('power').apply(ref, 'stop', { force: true });
      await recorder.untilVm(ref, ({ status }) => status === 'Stopped');

      for (const path of [base, next, last]) await run('qemu-img', ['check', '-q', '-f', 'qcow2', path]);
      const disk = ['qcow2', await diskOf(ref)] as const;
      await compare(['qcow2', last], disk);
      await expect(compare(['qcow2', next], disk)).rejects.toThrow();
      expect((await stat(next)).size).toBeGreaterThan(1024 ** 2);
      expect((await stat(next)).size).toBeLessThan(24 * 1024 ** 2);

      // As the documentation says for a raw image.
      const inFolder = { cwd: libvirt.sharedDir };
      await run('qemu-img', ['rebase', '-u', '-F', 'raw', '-b', `${ref.name}-raw.img`, onRaw], inFolder);
      await run('qemu-img', ['commit', '-q', onRaw], inFolder);
      await compare(['raw', raw], disk);
    },
    BOOT_MS,
  );

  test(
    'snapshots keep the record of changes, restoring one loses it, and merging their layers keeps it',
    async () => {
      const ref = await runningVm();
      const snapshots = backend.require('snapshots');
      await save(ref, backupImageName(ref.name, 'one'), full('one'));
      await write(ref, '16M', 1);
      await snapshots.create(ref, { name: 'saved' });
      await write(ref, '20M', 2);
      await save(ref, backupImageName(ref.name, 'two'), { since: 'one', checkpoint: 'two' });
      await write(ref, '24M', 3);
      const { remaining } = await snapshots.delete(ref, 'saved');
      await remaining?.(recordingReporter());
      await write(ref, '28M', 4);
      await snapshots.create(ref, { name: 'later' });
      await backend.require('power').apply(ref, 'pause');
      const last = await save(ref, `${ref.name}-since-two.qcow2`, { since: 'two' });
      await compare(['qcow2', last], ['qcow2', await diskOf(ref)]);

      await (
        await snapshots.restore(ref, 'later')
      )(recordingReporter());
      await recorder.untilVm(ref, ({ status }) => status === 'Running');
      const lost: Checkpoint[] = [...(await backups.list(ref))];
      expect(lost).toMatchObject([
        { name: 'one', ready: false, reason: expect.stringContaining('delete it') },
        { name: 'two', ready: false },
      ]);
      await expect(backups.check(ref, { since: 'one' })).rejects.toMatchObject({ code: 'CHECKPOINT_INCONSISTENT' });
      await expect(backups.open(ref, { since: 'one' }, never)).rejects.toMatchObject({
        code: 'CHECKPOINT_INCONSISTENT',
      });
      for (const name of ['one', 'two']) await backups.delete(ref, name);
      await download(ref, full('one'));
      expect(await backups.list(ref)).toMatchObject([{ name: 'one', ready: true }]);
      await expectClean(ref);
    },
    BOOT_MS,
  );

  test(
    'a QEMU that was killed has lost the record of changes',
    async () => {
      const ref = await runningVm();
      await download(ref, full('one'));
      const pid = Number(await readFile(`/run/libvirt/qemu/${ref.name}.pid`, 'utf8'));
      process.kill(pid, 'SIGKILL');
      await recorder.untilVm(ref, ({ status }) => status !== 'Running');
      await backend.require('power').apply(ref, 'start');
      await recorder.untilVm(ref, ({ status }) => status === 'Running');
      await untilBooted(ref, 2);
      expect(await backups.list(ref)).toMatchObject([{ name: 'one', ready: false }]);
      await expect(backups.check(ref, { since: 'one' })).rejects.toMatchObject({ code: 'CHECKPOINT_INCONSISTENT' });
      await backups.delete(ref, 'one');
      expect(await backups.list(ref)).toEqual([]);
      await download(ref, full('one'));
      expect(await names(ref)).toEqual(['one']);
    },
    BOOT_MS,
  );

  test(
    'the backup and the checkpoints of other programs stay',
    async () => {
      const ref = await runningVm();
      await virsh('checkpoint-create-as', ref.name, 'foreign', '--diskspec', 'vda');
      await virsh('checkpoint-create-as', ref.name, 'web.0123abcd', '--diskspec', 'vda');
      expect(await backups.list(ref)).toEqual([]);
      for (const name of ['foreign', 'web'])
        await expect(backups.delete(ref, name)).rejects.toMatchObject({ code: 'CHECKPOINT_NOT_FOUND' });
      await download(ref, full('web'));
      await backups.delete(ref, 'web');
      expect((await virsh('checkpoint-list', ref.name, '--name')).split('\n')).toEqual(['foreign', 'web.0123abcd']);

      const folder = join(libvirt.sharedDir, 'other');
      await mkdir(folder);
      await chmod(folder, 0o777);
      await run('qemu-img', ['create', '-q', '-f', 'qcow2', join(folder, 'scratch'), '1G']);
      const xml = `<domainbackup mode='pull'><server transport='unix' socket='${folder}/nbd.sock'/>
        <disks><disk name='vda' backup='yes' type='file'><scratch file='${folder}/scratch'/></disk></disks></domainbackup>`;
      await libvirt.virsh.withXml(xml, (file) => ['backup-begin', ref.name, file, '--reuse-external']);
      await expect(backups.open(ref, full('one'), never)).rejects.toMatchObject({ code: 'BUSY' });
      await stop();
      await start();
      expect(await isBackingUp(ref)).toBe(true);
      await virsh('domjobabort', ref.name);
      await until(async () => !(await isBackingUp(ref)));
      await expectClean(ref);
    },
    BOOT_MS,
  );

  test(
    'a reader that is slow or leaves does not hold up the guest, and leaves nothing behind',
    async () => {
      const ref = await runningVm();
      const stream = await backups.open(ref, { checkpoint: 'one', format: 'raw.gz' }, never);
      await once(stream, 'readable');
      expect(await isBackingUp(ref)).toBe(false);
      await write(ref, '16M', 1);
      await backend.require('snapshots').create(ref, { name: 'meanwhile' });
      expect((await libvirt.volumes()).filter((volume) => volume.endsWith(COPY_SUFFIX))).toHaveLength(1);
      const end = closed(stream);
      stream.destroy();
      await end;
      expect(await names(ref)).toEqual([]);
      await expectClean(ref);

      // The client leaves while libvirt copies the disk.
      const gone = new AbortController();
      const connection = new RpcLibvirt({ uri: TEST_URI });
      const begin = connection.backups.beginBackup.bind(connection.backups);
      connection.backups.beginBackup = async (...args) => {
        await begin(...args);
        gone.abort(new Error('The client has left.'));
      };
      const leaving = open(connection).require('backups').open(ref, full('one'), gone.signal);
      await expect(leaving).rejects.toThrow('The client has left.');
      expect(await names(ref)).toEqual([]);
      await expectClean(ref);
    },
    BOOT_MS,
  );

  test(
    'a service that was killed in the middle of an export removes its files and its checkpoint at its next start',
    async () => {
      const ref = await runningVm();
      await download(ref, full('one'));
      let steps = 0;
      for (let last = 0; last < MAX_CHANGES; last++) {
        const connection = new RpcLibvirt({ uri: TEST_URI });
        const dying = new DyingConnection(connection, last);
        const victim = open(dying.open());
        const stream = await victim
          .require('backups')
          .open(ref, { since: 'one', checkpoint: 'two' }, never)
          .catch(() => undefined);
        if (stream) {
          const end = closed(stream);
          stream.destroy();
          await end;
        }
        await victim.close();
        await stop();
        await start();
        await recorder.until(() => true);
        await until(async () => (await describeVm(ref)).metadata.backup === undefined);
        await expectClean(ref);
        expect(await names(ref)).toEqual(['one']);
        if (!dying.isDead) break;
        steps++;
      }
      expect(steps).toBeGreaterThan(3);
      await download(ref, { since: 'one', checkpoint: 'two' });
      expect(await names(ref)).toEqual(['one', 'two']);
    },
    KILLS_MS,
  );

  test('a raw disk is refused with the reason', async () => {
    const ref = libvirt.refOf(libvirt.freshName());
    const disk = join(libvirt.sharedDir, 'disk.raw');
    await run('qemu-img', ['convert', '-f', 'qcow2', '-O', 'raw', image, disk]);
    await libvirt.define(foreignDomainXml({ name: ref.name, disks: fileDisk(disk, 'raw') }));
    await virsh('start', ref.name);
    await recorder.untilVm(ref, ({ status }) => status === 'Running');
    const refused = backups.check(ref, full('one'));
    await expect(refused).rejects.toMatchObject({ code: 'NOT_SUPPORTED', message: expect.stringContaining('qcow2') });
  });
});

async function until(isMet: () => Promise<boolean>): Promise<void> {
  while (!(await isMet())) await new Promise((resolve) => setTimeout(resolve, 50));
}
