import { randomBytes, randomUUID } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import type { Backend, DiskRestore, DiskRestoreSpec, VirtualMachine } from '@headgate/domain-contracts';
import { InventoryRecorder, recordingReporter } from '@headgate/testing';
import type { LibvirtConnection } from '../connection/libvirt-connection.js';
import { RpcLibvirt } from '../rpc/rpc-libvirt.js';
import { DyingConnection } from '../testing/dying-connection.js';
import { IDLE_DISK_BYTES, writeIdleDisk } from '../testing/idle-disk.js';
import { LibvirtUnderTest, TEST_URI, whyLibvirtIsUnavailable } from '../testing/libvirt-under-test.js';
import { TINY_ENTRY } from '../testing/tiny-guest.js';

const missing = await whyLibvirtIsUnavailable();
const describeWithLibvirt = missing === undefined ? describe : describe.skip;
const MIB = 1024 ** 2;
const NEW_BYTES = 6 * MIB;
const MAX_CHANGES = 40;
// Each step of the crash creates a VM.
const TEST_MS = 600_000;
const never = new AbortController().signal;

describeWithLibvirt(`Restored disks on libvirt${missing === undefined ? '' : `: skipped, ${missing}`}`, () => {
  let libvirt: LibvirtUnderTest;
  let backend: Backend;
  let restore: DiskRestore;
  let recorder: InventoryRecorder;
  let idle: string;
  const content = Buffer.concat([randomBytes(2 * MIB), Buffer.alloc(NEW_BYTES - 2 * MIB)]);

  const open = (connection?: LibvirtConnection): Backend =>
    libvirt.backend({ tinyGuest: () => Promise.resolve(idle), ...(connection && { connection }) });
  const start = async (): Promise<void> => {
    backend = open();
    restore = backend.require('diskRestore');
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
    idle = join(libvirt.sharedDir, 'idle.qcow2');
    await writeIdleDisk(idle);
    await start();
  });
  afterEach(async () => {
    await recorder?.stop();
    await libvirt?.close();
  }, 60_000);

  const virsh = async (...args: string[]): Promise<string> => (await libvirt.virsh.run(args)).trim();
  const createVm = async (): Promise<VirtualMachine> => {
    const ref = libvirt.refOf(libvirt.freshName());
    const { remaining } = await backend.require('provisioning').create({
      ref,
      source: { kind: 'image', entry: TINY_ENTRY },
      cpu: 1,
      memoryBytes: 256 * MIB,
      diskBytes: 4 * IDLE_DISK_BYTES,
      start: false,
    });
    await remaining?.(recordingReporter());
    return recorder.untilVm(ref, ({ status }) => status === 'Stopped');
  };
  const specOf = ({ ref, uid }: VirtualMachine, more: Partial<DiskRestoreSpec> = {}): DiskRestoreSpec => ({
    id: randomUUID(),
    ref,
    uid,
    mode: 'replace',
    disks: [{ name: 'vda', sizeBytes: NEW_BYTES, usedBytes: null }],
    ...more,
  });
  const fill = async (spec: DiskRestoreSpec, by: DiskRestore = restore): Promise<void> => {
    for (const { name } of spec.disks) {
      const writer = await by.write(spec, name, never);
      await writer.write(0, content.subarray(0, 2 * MIB));
      await writer.finish();
    }
  };
  const contentOf = async ({ ref }: VirtualMachine, disk = 'vda'): Promise<Buffer> =>
    buffer(await backend.require('diskSource').open(ref, disk, never));
  const isNew = (bytes: Buffer): boolean =>
    bytes.subarray(0, 2 * MIB).equals(content.subarray(0, 2 * MIB)) &&
    bytes.subarray(2 * MIB).every((byte) => byte === 0);
  const diskVolumes = async (): Promise<string[]> =>
    (await libvirt.volumes()).filter((name) => /\.(qcow2|img)$/.test(name));
  const refusalsOf = async (spec: DiskRestoreSpec): Promise<string[]> =>
    (await restore.plan(spec)).refusals.map(({ code, reason }) => `${code} ${reason}`);

  test(
    'a service that is killed leaves the old disks or the new ones, whole, and nothing else',
    async () => {
      const other = await createVm();
      const untouched = await contentOf(other);
      let steps = 0;
      for (let last = 0; last < MAX_CHANGES; last++) {
        const vm = await createVm();
        // With two disks, a mix could be seen.
        await backend.require('hardware').apply(vm.ref, { kind: 'attach-volume', disk: { sizeBytes: 8 * MIB } });
        const second = (await backend.require('diskSource').describe(vm.ref)).vm.disks[1]?.name ?? '';
        const before = [await contentOf(vm), await contentOf(vm, second)] as const;
        const spec = specOf(vm, {
          disks: ['vda', second].map((name) => ({ name, sizeBytes: NEW_BYTES, usedBytes: null })),
        });
        const dying = new DyingConnection(new RpcLibvirt({ uri: TEST_URI }), last);
        const victim = open(dying.open());
        const dead = victim.require('diskRestore');
        await (async () => {
          await dead.begin(spec);
          await fill(spec, dead);
          await dead.commit(spec);
        })().catch(() => undefined);
        await victim.close();
        await restart();
        const state = await restore.state(spec);
        // What the task does when it is resumed.
        if (state === 'partial') await restore.discard(spec);
        const now = [await contentOf(vm), await contentOf(vm, second)] as const;
        if (state === 'committed') expect(now.map(isNew)).toEqual([true, true]);
        else expect(now.map((bytes, index) => bytes.equals(before[index] ?? Buffer.alloc(0)))).toEqual([true, true]);
        // The recovery removes what the disks had before.
        const own = async (): Promise<number> =>
          (await diskVolumes()).filter((name) => name.startsWith(`${vm.ref.name}-`)).length;
        for (let attempt = 0; (await own()) > 2 && attempt < 200; attempt++)
          await new Promise((resolve) => setImmediate(resolve));
        expect(await own()).toBe(2);
        await backend.require('provisioning').delete(vm.ref);
        if (!dying.isDead) break;
        steps++;
      }
      expect(steps).toBeGreaterThan(5);
      expect((await contentOf(other)).equals(untouched)).toBe(true);
    },
    TEST_MS,
  );

  test(
    'a VM that another program has started meanwhile keeps its disks',
    async () => {
      const vm = await createVm();
      const before = await contentOf(vm);
      const spec = specOf(vm);
      await restore.begin(spec);
      await fill(spec);
      await expect(backend.require('power').apply(vm.ref, 'start')).rejects.toMatchObject({ code: 'BUSY' });
      await virsh('start', vm.ref.name);
      await expect(restore.commit(spec)).rejects.toMatchObject({ code: 'WRONG_STATE' });
      expect(await restore.state(spec)).toBe('partial');
      await restore.discard(spec);
      expect(await virsh('domstate', vm.ref.name)).toBe('running');
      await virsh('destroy', vm.ref.name);
      await recorder.untilVm(vm.ref, ({ status }) => status === 'Stopped');
      const after = await contentOf(vm);
      expect(after.length).toBe(before.length);
      expect(isNew(after)).toBe(false);
    },
    TEST_MS,
  );

  test(
    'a guest that was started in the last moment keeps its disks, also for its next start',
    async () => {
      const vm = await createVm();
      const spec = specOf(vm);
      await restore.begin(spec);
      await fill(spec);
      await virsh('start', vm.ref.name);
      // A service that was killed between the definition with the new disks and the one that takes it back.
      const definition = await virsh('dumpxml', '--inactive', vm.ref.name);
      const [former = ''] = /[^/']+\.qcow2(?=')/.exec(definition) ?? [];
      const added = (await diskVolumes()).find((name) => name.includes(`-${spec.id.slice(0, 8)}-`)) ?? '';
      const file = join(libvirt.sharedDir, 'switched.xml');
      await writeFile(file, definition.replaceAll(`/${former}'`, `/${added}'`));
      await virsh('define', file);
      expect(await virsh('dumpxml', '--inactive', vm.ref.name)).toContain(`/${added}'`);
      await restart();
      expect(await restore.state(spec)).toBe('partial');
      await restore.discard(spec);
      const next = await virsh('dumpxml', '--inactive', vm.ref.name);
      expect(next).toContain(`/${former}'`);
      expect(next).not.toContain(added);
      expect(await diskVolumes()).not.toContain(added);
      expect(await virsh('domstate', vm.ref.name)).toBe('running');
    },
    TEST_MS,
  );

  test('a disk that was changed meanwhile is not replaced', async () => {
    const vm = await createVm();
    const spec = specOf(vm);
    await restore.begin(spec);
    await fill(spec);
    const foreign = join(libvirt.sharedDir, 'foreign.qcow2');
    await writeIdleDisk(foreign);
    await virsh('detach-disk', vm.ref.name, 'vda', '--config');
    await virsh('attach-disk', vm.ref.name, foreign, 'vda', '--config', '--subdriver', 'qcow2');
    await expect(restore.commit(spec)).rejects.toMatchObject({ code: 'WRONG_STATE' });
    await restore.discard(spec);
    expect(await virsh('domblklist', vm.ref.name)).toContain(foreign);
    expect(await refusalsOf(specOf(vm))).toEqual([
      expect.stringMatching(/^NOT_SUPPORTED .*not created by this service/),
    ]);
  });

  test('VMs with snapshots are refused, and a clone of the VM keeps its content', async () => {
    const vm = await createVm();
    const before = await contentOf(vm);
    const clone = libvirt.refOf(libvirt.freshName());
    const { remaining } = await backend.require('cloning').clone(vm.ref, clone);
    await remaining?.(recordingReporter());
    const cloned = await recorder.untilVm(clone, ({ status }) => status === 'Stopped');
    const [refusal] = await refusalsOf(specOf(vm));
    if (refusal === undefined) {
      const spec = specOf(vm);
      await restore.begin(spec);
      await fill(spec);
      await restore.commit(spec);
      expect(isNew(await contentOf(vm))).toBe(true);
    } else expect(refusal).toMatch(/^BUSY .*also used by another VM/);
    expect((await contentOf(cloned)).equals(before)).toBe(true);
    await backend.require('snapshots').create(clone, { name: 'before' });
    expect(await refusalsOf(specOf(cloned))).toEqual([expect.stringMatching(/^WRONG_STATE .* has snapshots/)]);
  });

  test('a disk is attached to a guest that runs, and removed with its VM', async () => {
    const vm = await createVm();
    await backend.require('power').apply(vm.ref, 'start');
    const spec = specOf(vm, { mode: 'add' });
    await restore.begin(spec);
    await fill(spec);
    await restart();
    expect(await restore.state(spec)).toBe('partial');
    await restore.commit(spec);
    expect(await restore.state(spec)).toBe('committed');
    const [live, config] = [
      await virsh('domblklist', vm.ref.name),
      await virsh('domblklist', vm.ref.name, '--inactive'),
    ];
    for (const list of [live, config]) expect(list).toMatch(/vd[bc]\s+\S+qcow2/);
    await virsh('destroy', vm.ref.name);
    await recorder.untilVm(vm.ref, ({ status }) => status === 'Stopped');
    const { disks } = (await backend.require('diskSource').describe(vm.ref)).vm;
    expect(isNew(await contentOf(vm, disks[1]?.name))).toBe(true);
    await backend.require('provisioning').delete(vm.ref);
    expect((await diskVolumes()).filter((name) => name.startsWith(`${vm.ref.name}-`))).toEqual([]);
  });
});
