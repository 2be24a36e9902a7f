import { copyFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Writable, type Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Backend, BackupReading, InstanceRef } from '@headgate/domain-contracts';
import { createdVm, InventoryRecorder, NodeProgram, type BackendHarness } from '@headgate/testing';
import { COPY_SUFFIX } from '../backups/backup-job.js';
import { POOL_NAME, StoragePool } from '../storage/storage-pool.js';
import { fileDisk, foreignDomainXml } from '../testing/domain-xml.js';
import { IDLE_TEXT, writeIdleDisk } from '../testing/idle-disk.js';
import { LibvirtUnderTest, TEST_URI, whyLibvirtIsUnavailable } from '../testing/libvirt-under-test.js';
import type { KilledReading } from '../testing/reading-process.js';
import { TINY_ENTRY, tinyGuest } from '../testing/tiny-guest.js';
import { untilPrinted } from '../testing/until-printed.js';
import { VirshConnection } from '../virsh/virsh-connection.js';

const missing = await whyLibvirtIsUnavailable();
const describeWithLibvirt = missing === undefined ? describe : describe.skip;
const BOOT_MS = 240_000;
const MIB = 1024 ** 2;
const SECTOR_BYTES = 512;
const drain = (stream: Readable): Promise<void> =>
  pipeline(stream, new Writable({ write: (_chunk, _encoding, done) => done() }));
const never = new AbortController().signal;

describeWithLibvirt(`Readings of disks on libvirt${missing === undefined ? '' : `: skipped, ${missing}`}`, () => {
  let libvirt: LibvirtUnderTest;
  let backend: Backend;
  let recorder: InventoryRecorder;

  /** The disk image of new VMs. */
  let image: string;

  const start = async (): Promise<void> => {
    backend = libvirt.backend({ tinyGuest: () => Promise.resolve(image) });
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

  /** A command of qemu-io, which QEMU runs as if its guest did. */
  const qemuIo = async ({ name }: InstanceRef, work: string): Promise<void> => {
    const blocks = await virsh('qemu-monitor-command', name, '--pretty', '{"execute":"query-block"}');
    const qdev = /"qdev": "([^"]*virtio-disk0[^"]*)"/.exec(blocks)?.[1] ?? '';
    const command = `qemu-io -d ${qdev} "${work}"`;
    expect(await virsh('qemu-monitor-command', name, '--hmp', command)).not.toMatch(/rror/);
  };
  const virsh = async (...args: string[]): Promise<string> => (await libvirt.virsh.run(args)).trim();
  const startedVm = async (): Promise<InstanceRef> => {
    const harness = {
      backend,
      freshRef: () => libvirt.refOf(libvirt.freshName()),
      quickSource: async () => ({ kind: 'image', entry: TINY_ENTRY }),
    } as unknown as BackendHarness;
    return (await createdVm(harness, recorder, { start: true })).ref;
  };
  const runningVm = async (): Promise<InstanceRef> => {
    const ref = await startedVm();
    await untilPrinted(libvirt.virsh, ref, new RegExp(IDLE_TEXT));
    return ref;
  };

  /** A guest that the service did not create, without an I/O thread. */
  const foreignVm = async (): Promise<InstanceRef> => {
    const ref = libvirt.refOf(libvirt.freshName());
    const disks = fileDisk(image);
    await libvirt.define(foreignDomainXml({ name: ref.name, disks, log: join(libvirt.sharedDir, `${ref.name}.log`) }));
    await virsh('start', ref.name);
    await untilPrinted(libvirt.virsh, ref, new RegExp(IDLE_TEXT));
    return ref;
  };
  /** Those of the guest: other tests may use the same pool. */
  const temporaryVolumes = async ({ name }: InstanceRef): Promise<string[]> => {
    const uuid = await virsh('domuuid', name);
    const volumes = await new StoragePool(new VirshConnection({ uri: TEST_URI }), POOL_NAME, '').volumes();
    return volumes.filter((volume) => volume.endsWith(COPY_SUFFIX) && volume.includes(uuid.slice(0, 8)));
  };

  test(
    'are ended with the service, and the guest with its I/O thread runs on',
    async () => {
      const ref = await runningVm();
      expect(await virsh('dumpxml', ref.name)).toMatch(/<iothreads>1</);
      const first = await backend.require('backupSource').open(ref, { series: 'one' }, never);
      await first.close({ keep: true });
      const { checkpoint: since = '' } = first;
      await backend.require('backupSource').open(ref, { series: 'one', since }, never);
      await stop();
      expect(await virsh('domstate', ref.name)).toBe('running');
      expect(await virsh('dumpxml', ref.name)).not.toMatch(/<[a-z:]*backup /);
      expect(await virsh('checkpoint-list', ref.name, '--name')).toBe(since);
      await start();
      const again = await backend.require('backupSource').open(ref, { series: 'one', since }, never);
      expect([again.wholeReason, again.disks.map(({ changed }) => changed)]).toEqual([undefined, [[]]]);
      await again.close({ keep: false });
      expect(await virsh('domstate', ref.name)).toBe('running');
    },
    BOOT_MS,
  );

  test(
    'with only the changes complete the former content exactly',
    async () => {
      const ref = await runningVm();
      const contentOf = async ({ disks: [disk] }: BackupReading): Promise<Buffer> => {
        const parts: Buffer[] = [];
        for (let at = 0; disk && at < disk.sizeBytes; at += MIB)
          parts.push(await disk.read(at, Math.min(MIB, disk.sizeBytes - at)));
        return Buffer.concat(parts);
      };
      const source = backend.require('backupSource');
      const first = await source.open(ref, { series: 'one' }, never);
      const content = await contentOf(first);
      await first.close({ keep: true });
      const end = content.length - SECTOR_BYTES;
      for (const work of [
        `write -P 1 ${2 * MIB + 4096} 512`,
        `write -P 2 ${3 * MIB - 512} 1024`,
        // Zeros where the disk had content, which QEMU detects. (Its own command for zeros crashes with an I/O thread.)
        `write -P 0 ${9 * MIB} 128k`,
        `write -P 0 ${11 * MIB + 512} 1k`,
        `write -P 3 ${end} 512`,
      ])
        await qemuIo(ref, work);
      const second = await source.open(ref, { series: 'one', since: first.checkpoint ?? '' }, never);
      const [disk] = second.disks;
      expect(disk?.hasOnlyChanges).toBe(true);
      let changedBytes = 0;
      for (const { offset, length } of disk?.changed === 'all' ? [] : (disk?.changed ?? [])) {
        (await disk?.read(offset, length))?.copy(content, offset);
        changedBytes += length;
      }
      expect(changedBytes).toBeLessThanOrEqual(9 * 64 * 1024);
      await second.close({ keep: true });
      const whole = await source.open(ref, { series: 'two' }, never);
      expect((await contentOf(whole)).equals(content)).toBe(true);
      await whole.close({ keep: false });
    },
    BOOT_MS,
  );

  test.each([
    ['with an I/O thread', true],
    ['without one', false],
  ])(
    'have all of a VM %s that has got another disk since the last one, and later its changes',
    async (_what, hasThread) => {
      const ref = hasThread ? await runningVm() : await foreignVm();
      const source = backend.require('backupSource');
      const first = await source.open(ref, { series: 'one' }, never);
      await first.close({ keep: true });
      const added = join(libvirt.sharedDir, 'added.qcow2');
      await copyFile(image, added);
      const cache = ['--driver', 'qemu', '--subdriver', 'qcow2', '--targetbus', 'virtio'];
      await virsh('attach-disk', ref.name, added, 'vdc', '--live', ...cache);
      const second = await source.open(ref, { series: 'one', since: first.checkpoint ?? '' }, never);
      expect(second.disks.map(({ name, changed }) => [name, changed])).toEqual([
        ['vda', 'all'],
        ['vdc', 'all'],
      ]);
      expect(second.wholeReason).toMatch(/lost/);
      expect((await second.disks[1]?.read(0, SECTOR_BYTES))?.readUInt16LE(SECTOR_BYTES - 2)).toBe(0xaa55);
      await second.close({ keep: true });
      const third = await source.open(ref, { series: 'one', since: second.checkpoint ?? '' }, never);
      expect(third.disks.map(({ name, changed }) => [name, changed])).toEqual([
        ['vda', []],
        ['vdc', []],
      ]);
      await third.close({ keep: false });
    },
    BOOT_MS,
  );

  test(
    'leave only what belongs to others when their series ends',
    async () => {
      const ref = await runningVm();
      const source = backend.require('backupSource');
      const checkpoints = async () => (await virsh('checkpoint-list', ref.name, '--name')).split('\n').sort();
      const backUp = async (series: string): Promise<string> => {
        const reading = await source.open(ref, { series }, never);
        await reading.close({ keep: true });
        return reading.checkpoint ?? '';
      };
      const [, other] = [await backUp('one'), await backUp('one1')];
      await virsh('checkpoint-create-as', ref.name, 'headgate-backup-one');
      await drain(await backend.require('backups').open(ref, { checkpoint: 'nightly', format: 'qcow2' }, never));
      const exported = (await checkpoints()).find((name) => name.startsWith('nightly.')) ?? '';
      expect(exported).not.toBe('');
      const reading = await source.open(ref, { series: 'one' }, never);
      await source.endAll('one');
      // A backup in progress removes its own one.
      const left = [exported, other, 'headgate-backup-one'].sort();
      expect(await checkpoints()).toEqual([...left, reading.checkpoint].sort());
      await reading.close({ keep: false });
      expect(await checkpoints()).toEqual(left);
    },
    BOOT_MS,
  );

  describe('of a service that is killed with its processes', () => {
    let program: NodeProgram;
    beforeAll(async () => {
      program = await NodeProgram.build(join(import.meta.dirname, '../testing/reading-process.ts'));
    });
    afterAll(() => program?.close());

    test.each([
      ['with an I/O thread, while it is copied', runningVm, 'begun'],
      ['with an I/O thread, while its copy is read', runningVm, 'read'],
      ['without an I/O thread, while QEMU serves it', foreignVm, 'read'],
    ] as const)(
      'leave a guest %s running, and are removed at the next start',
      async (_what, create, killAt) => {
        const ref = await create();
        const first = await backend.require('backupSource').open(ref, { series: 'one' }, never);
        await first.close({ keep: true });
        const { checkpoint: since = '' } = first;
        // Of a client, which must stay.
        await virsh('checkpoint-create-as', ref.name, 'of-a-client');
        await qemuIo(ref, `write -P 7 ${2 * MIB} ${SECTOR_BYTES}`);
        await stop();
        const { dataDir } = libvirt;
        const killed: KilledReading = {
          context: ref.context,
          uri: TEST_URI,
          dataDir,
          name: ref.name,
          series: 'one',
          since,
          killAt,
        };
        await expect(program.run(JSON.stringify(killed))).rejects.toMatchObject({
          signal: 'SIGKILL',
          stderr: '',
        });
        expect(await temporaryVolumes(ref)).toHaveLength(1);
        expect(await virsh('dumpxml', ref.name)).toMatch(/<[a-z:]*backup /);
        // QEMU itself answers.
        expect(await virsh('qemu-monitor-command', ref.name, '--hmp', 'info status')).toMatch(/running/);
        expect(await virsh('domstate', ref.name)).toBe('running');

        await start();
        const again = await backend.require('backupSource').open(ref, { series: 'one', since }, never);
        const [disk] = again.disks;
        expect(disk?.changed).toEqual([{ offset: 2 * MIB, length: 64 * 1024 }]);
        expect([...new Set(await disk?.read(2 * MIB, SECTOR_BYTES))]).toEqual([7]);
        await again.close({ keep: false });
        expect(await temporaryVolumes(ref)).toEqual([]);
        expect(await virsh('dumpxml', ref.name)).not.toMatch(/<[a-z:]*backup /);
        expect((await virsh('checkpoint-list', ref.name, '--name')).split('\n')).toEqual([since, 'of-a-client']);
        expect(await virsh('domstate', ref.name)).toBe('running');
      },
      BOOT_MS,
    );
  });

  test(
    'that are being opened are ended with the service as well',
    async () => {
      const ref = await runningVm();
      const opening = backend.require('backupSource').open(ref, { series: 'one' }, never);
      // It may have been opened already, and is closed then.
      const opened = Promise.allSettled([opening]);
      await stop();
      await opened;
      expect(await temporaryVolumes(ref)).toEqual([]);
      expect(await virsh('checkpoint-list', ref.name, '--name')).toBe('');
      expect(await virsh('dumpxml', ref.name)).not.toMatch(/<[a-z:]*backup /);
      await start();
    },
    BOOT_MS,
  );

  test(
    'begin while the agent of a guest has frozen its file systems, and thaw them',
    async () => {
      image = await tinyGuest();
      const ref = await startedVm();
      await recorder.untilVm(ref, ({ agentConnected }) => agentConnected);
      const reading = await backend.require('backupSource').open(ref, { series: 'one' }, never);
      expect([reading.consistency, reading.warnings]).toEqual(['frozen', []]);
      const status = await virsh('qemu-agent-command', ref.name, '{"execute":"guest-fsfreeze-status"}');
      expect(status).toMatch(/thawed/);
      await reading.close({ keep: false });
      expect(await virsh('domstate', ref.name)).toBe('running');
    },
    BOOT_MS,
  );
});
