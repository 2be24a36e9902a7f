import { join } from 'node:path';
import type { Backend, InstanceRef } from '@headgate/domain-contracts';
import { createdVm, InventoryRecorder, type BackendHarness } from '@headgate/testing';
import { IDLE_TEXT, writeIdleDisk } from '../testing/idle-disk.js';
import { LibvirtUnderTest, whyLibvirtIsUnavailable } from '../testing/libvirt-under-test.js';
import { TINY_ENTRY, tinyGuest } from '../testing/tiny-guest.js';
import { untilPrinted } from '../testing/until-printed.js';

const missing = await whyLibvirtIsUnavailable();
const describeWithLibvirt = missing === undefined ? describe : describe.skip;
const BOOT_MS = 240_000;
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

  test(
    'are ended with the service, and the guest with its I/O thread runs on',
    async () => {
      const ref = await runningVm();
      expect(await virsh('dumpxml', ref.name)).toMatch(/<iothreads>1</);
      const warnings = await backend.require('backupSource').warnings(ref);
      expect(warnings).toEqual([expect.stringContaining('QEMU may end')]);
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
