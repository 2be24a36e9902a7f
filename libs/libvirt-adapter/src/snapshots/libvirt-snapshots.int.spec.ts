import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { DomainError, type Backend, type InstanceRef, type VmSource } from '@headgate/domain-contracts';
import {
  createdVm,
  type CreatedVmOptions,
  InventoryRecorder,
  recordingReporter,
  type BackendHarness,
} from '@headgate/testing';
import { HttpServer } from '@headgate/downloads/testing';
import { describeDomain } from '../domain-xml/domain-description.js';
import type { InstanceMetadata } from '../domain-xml/instance-metadata.js';
import { RpcLibvirt } from '../rpc/rpc-libvirt.js';
import { DyingConnection } from '../testing/dying-connection.js';
import { diskWithUnsignedLoader } from '../testing/unsigned-loader.js';
import { fileDisk, foreignDomainXml } from '../testing/domain-xml.js';
import { LibvirtUnderTest, TEST_URI, whyLibvirtIsUnavailable } from '../testing/libvirt-under-test.js';
import { TINY_ENTRY, tinyGuest } from '../testing/tiny-guest.js';
import { POOL_NAME } from '../storage/storage-pool.js';

const missing = await whyLibvirtIsUnavailable();
const describeWithLibvirt = missing === undefined ? describe : describe.skip;
const BOOT_MS = 240_000;
const MAX_CHANGES = 40;
/** Each step of a change is interrupted once, with a VM of its own. */
const KILLS_MS = 900_000;
const run = promisify(execFile);

describeWithLibvirt(`Snapshots on libvirt${missing === undefined ? '' : `: skipped, ${missing}`}`, () => {
  let libvirt: LibvirtUnderTest;
  let backend: Backend;
  let recorder: InventoryRecorder;
  let image: string;

  beforeAll(async () => void (image = await tinyGuest()), BOOT_MS);
  const start = async (): Promise<void> => {
    backend = open();
    recorder = InventoryRecorder.over(backend.require('inventory'));
    await recorder.whenListed();
  };
  const stop = async (): Promise<void> => {
    await recorder.stop();
    await backend.close();
  };
  beforeEach(async () => {
    libvirt = await LibvirtUnderTest.open();
    await start();
  });
  afterEach(async () => {
    await recorder?.stop();
    await libvirt?.close();
  }, 60_000);

  const open = (dying?: DyingConnection): Backend =>
    libvirt.backend({ tinyGuest: () => Promise.resolve(image), ...(dying && { connection: dying.open() }) });
  const tiny: VmSource = { kind: 'image', entry: TINY_ENTRY };
  const harness = (): BackendHarness =>
    ({
      backend,
      freshRef: () => libvirt.refOf(libvirt.freshName()),
      quickSource: async () => tiny,
    }) as unknown as BackendHarness;
  const created = (options: CreatedVmOptions = {}) => createdVm(harness(), recorder, options);
  const take = async (ref: InstanceRef, name: string, from = backend): Promise<void> => {
    const { remaining } = await from.require('snapshots').create(ref, { name });
    await remaining?.(recordingReporter());
  };
  const restore = async (ref: InstanceRef, name: string, from = backend): Promise<void> =>
    (await from.require('snapshots').restore(ref, name))(recordingReporter());
  /** The service merges layers after its start, during which it refuses other changes. */
  const onceFree = async (work: () => Promise<void>): Promise<void> => {
    for (;;) {
      try {
        return await work();
      } catch (error) {
        if (!DomainError.is(error, 'BUSY')) throw error;
      }
    }
  };
  const remove = async (ref: InstanceRef, name: string, from = backend): Promise<void> => {
    const { remaining } = await from.require('snapshots').delete(ref, name);
    await remaining?.(recordingReporter());
  };
  const clone = async (ref: InstanceRef, target: InstanceRef, from = backend): Promise<void> => {
    const { remaining } = await from.require('cloning').clone(ref, target);
    await remaining?.(recordingReporter());
  };
  const metadataOf = async ({ name }: InstanceRef): Promise<InstanceMetadata> =>
    describeDomain(await libvirt.virsh.run(['dumpxml', name])).metadata;
  const diskOf = async ({ name }: InstanceRef): Promise<string> =>
    describeDomain(await libvirt.virsh.run(['dumpxml', name])).disks[0]?.path ?? '';
  const poolPath = async (): Promise<string> =>
    /<path>([^<]+)</.exec(await libvirt.virsh.run(['pool-dumpxml', POOL_NAME]))?.[1] ?? '';
  /** The bytes that the guest of a stopped VM would read at 16 MiB of its disk, where the tiny guest has nothing. */
  const MARK_OFFSET = '16M';
  const write = async (ref: InstanceRef, pattern: number): Promise<void> => {
    await run('qemu-io', ['-f', 'qcow2', '-c', `write -P ${pattern} ${MARK_OFFSET} 1M`, await diskOf(ref)]);
  };
  const holds = async (path: string, pattern: number): Promise<boolean> => {
    const command = ['-r', '-f', 'qcow2', '-c', `read -P ${pattern} ${MARK_OFFSET} 1M`, path];
    const { stdout } = await run('qemu-io', command).catch((error: { stdout?: string }) => ({
      stdout: error.stdout ?? '',
    }));
    expect(stdout).toMatch(/read 1048576\/1048576 bytes/);
    return !/Pattern verification failed/.test(stdout);
  };
  /** Every volume of the domain exists, and no other volume has its name. */
  const expectConsistent = async (ref: InstanceRef): Promise<void> => {
    const { volumes, pending, snapshots } = await metadataOf(ref);
    expect(pending).toBeUndefined();
    expect(snapshots.filter(({ isDeleting }) => isDeleting)).toEqual([]);
    const present = (await libvirt.volumes()).filter((name) => name.startsWith(`${ref.name}-`));
    const listed = volumes.filter(({ role }) => role !== 'serial-log').map(({ name }) => name);
    expect(present.filter((name) => !name.includes('serial')).sort()).toEqual(listed.sort());
    await run('qemu-img', ['check', '-q', '-U', '-f', 'qcow2', await diskOf(ref)]);
  };

  test('restores the content of each snapshot, and keeps it when others are deleted', async () => {
    const { ref } = await created();
    await write(ref, 1);
    await take(ref, 'one');
    await write(ref, 2);
    await take(ref, 'two');
    await write(ref, 3);
    await restore(ref, 'one');
    expect(await holds(await diskOf(ref), 1)).toBe(true);
    await write(ref, 4);
    await take(ref, 'four');
    await restore(ref, 'two');
    expect(await holds(await diskOf(ref), 2)).toBe(true);
    await remove(ref, 'one');
    await expectConsistent(ref);
    await restore(ref, 'four');
    expect(await holds(await diskOf(ref), 4)).toBe(true);
    await remove(ref, 'two');
    expect(await holds(await diskOf(ref), 4)).toBe(true);
    await remove(ref, 'four');
    expect(await holds(await diskOf(ref), 4)).toBe(true);
    await expectConsistent(ref);
    // One file is left, on the image.
    expect((await metadataOf(ref)).volumes.filter(({ role }) => role === 'disk' || role === 'layer')).toHaveLength(1);
    await backend.require('provisioning').delete(ref);
    expect(await libvirt.volumes()).toEqual([]);
    expect(await libvirt.baseImages()).toHaveLength(1);
  });

  test('refuses disks that the service did not create, and does not touch them', async () => {
    const name = libvirt.freshName();
    const disk = `${libvirt.sharedDir}/${name}.qcow2`;
    await run('qemu-img', ['create', '-q', '-f', 'qcow2', disk, '8M']);
    const before = await readFile(disk);
    await libvirt.define(foreignDomainXml({ name, disks: fileDisk(disk) }));
    const ref = libvirt.refOf(name);
    await recorder.untilVm(ref, () => true);
    await expect(take(ref, 'one')).rejects.toMatchObject({ code: 'NOT_SUPPORTED' });
    await expect(clone(ref, libvirt.refOf(libvirt.freshName()))).rejects.toMatchObject({ code: 'NOT_SUPPORTED' });
    expect(await readFile(disk)).toEqual(before);
  });

  test('never gives a layer of a VM to another VM as its disk', async () => {
    const { ref } = await created();
    await take(ref, 'one');
    await take(ref, 'two');
    await restore(ref, 'one');
    const { volumes } = await metadataOf(ref);
    for (const { name } of volumes.filter(({ role }) => role === 'disk' || role === 'layer')) {
      const spec = { ref: libvirt.refOf(libvirt.freshName()), cpu: 1, memoryBytes: 2 ** 28, diskBytes: 2 ** 30 };
      const source = { kind: 'pvc', claim: name } as const;
      const attempt = backend.require('provisioning').create({ ...spec, source, start: false });
      await expect(attempt).rejects.toMatchObject({ code: 'BUSY' });
    }
    await expectConsistent(ref);
  });

  test('saves and restores the variables of the firmware, and a clone gets a copy of them', async () => {
    const server = await HttpServer.listen();
    server.serve('/disk.img', await diskWithUnsignedLoader());
    const ref = libvirt.refOf(libvirt.freshName());
    const size = { cpu: 1, memoryBytes: 2 ** 28, diskBytes: 2 ** 30 };
    const source = { kind: 'import', url: server.url('/disk.img') } as const;
    const spec = { ref, source, ...size, firmware: 'uefi', start: false } as const;
    const { remaining } = await backend.require('provisioning').create(spec);
    await remaining?.(recordingReporter()).finally(() => server.close());
    const variables = async ({ name }: InstanceRef): Promise<string> =>
      /<nvram\b[^>]*>([^<]+)</.exec(await libvirt.virsh.run(['dumpxml', name]))?.[1] ?? '';
    await writeFile(await variables(ref), 'first');
    await take(ref, 'one');
    await writeFile(await variables(ref), 'second');
    await restore(ref, 'one');
    expect((await readFile(await variables(ref), 'utf8')).replaceAll('\0', '')).toBe('first');
    const copy = libvirt.refOf(libvirt.freshName());
    await clone(ref, copy);
    expect(await variables(copy)).not.toBe(await variables(ref));
    expect((await readFile(await variables(copy), 'utf8')).replaceAll('\0', '')).toBe('first');
    await remove(ref, 'one');
    await expectConsistent(ref);
    for (const vm of [ref, copy]) await backend.require('provisioning').delete(vm);
    await libvirt.reclaim();
    expect(await libvirt.volumes()).toEqual([]);
  });

  test('refuses a second change of the disks meanwhile', async () => {
    const { ref } = await created();
    const results = await Promise.allSettled([take(ref, 'one'), take(ref, 'two')]);
    expect(results.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    expect(results.find(({ status }) => status === 'rejected')).toMatchObject({ reason: { code: 'BUSY' } });
    await expectConsistent(ref);
  });

  test('clones share layers that stay as long as one of the VMs needs them', async () => {
    const { ref } = await created();
    await write(ref, 1);
    const [first, second, third] = [1, 2, 3].map(() => libvirt.refOf(libvirt.freshName())) as [
      InstanceRef,
      InstanceRef,
      InstanceRef,
    ];
    await clone(ref, first);
    await clone(ref, second);
    // Nothing was written to the source in between, so its second clone has the same base.
    const layers = (await metadataOf(ref)).volumes.filter(({ role }) => role === 'layer');
    expect(layers).toHaveLength(1);
    await write(ref, 2);
    await clone(ref, third);
    await write(first, 3);
    for (const [vm, pattern] of [
      [ref, 2],
      [first, 3],
      [second, 1],
      [third, 2],
    ] as const)
      expect([vm.name, await holds(await diskOf(vm), pattern)]).toEqual([vm.name, true]);
    const [source, copy] = await Promise.all(
      [ref, first].map(async ({ name }) => describeDomain(await libvirt.virsh.run(['dumpxml', name]))),
    );
    expect(copy?.nics.map(({ mac }) => mac)).not.toEqual(source?.nics.map(({ mac }) => mac));
    expect(copy?.serial?.path).not.toBe(source?.serial?.path);
    await backend.require('provisioning').delete(ref);
    for (const [vm, pattern] of [
      [first, 3],
      [second, 1],
      [third, 2],
    ] as const)
      expect([vm.name, await holds(await diskOf(vm), pattern)]).toEqual([vm.name, true]);
    for (const vm of [first, second, third]) await backend.require('provisioning').delete(vm);
    await libvirt.reclaim();
    expect(await libvirt.volumes()).toEqual([]);
  });

  test('a clone has the user data of a source that has not read it, and an instance ID of its own', async () => {
    const cloudInit = `#cloud-config\nhostname: seeded\n# ${'x'.repeat(5000)}\n`;
    const ref = libvirt.refOf(libvirt.freshName());
    const size = { cpu: 1, memoryBytes: 2 ** 28, diskBytes: 2 ** 30 };
    const { remaining } = await backend
      .require('provisioning')
      .create({ ref, source: tiny, ...size, cloudInit, start: false });
    await remaining?.(recordingReporter());
    const target = libvirt.refOf(libvirt.freshName());
    await clone(ref, target);
    const seed = (await metadataOf(target)).volumes.find(({ role }) => role === 'seed');
    const disc = (await readFile(`${await poolPath()}/${seed?.name}`)).toString('latin1');
    expect(disc).toContain(cloudInit);
    const { uuid } = describeDomain(await libvirt.virsh.run(['dumpxml', target.name]));
    expect(disc).toContain(`instance-id: ${uuid}\nlocal-hostname: ${target.name}\n`);
  });

  describe('after the service was killed', () => {
    const CHANGES = {
      create: (from: Backend, ref: InstanceRef) => take(ref, 'two', from),
      restore: (from: Backend, ref: InstanceRef) => restore(ref, 'one', from),
      delete: (from: Backend, ref: InstanceRef) => remove(ref, 'one', from),
      clone: (from: Backend, ref: InstanceRef) => clone(ref, libvirt.refOf(`${ref.name}c`), from),
    };

    test.each(Object.keys(CHANGES) as (keyof typeof CHANGES)[])(
      'at any step of "%s", the next start completes or undoes it',
      async (change) => {
        for (let lastChange = 0; ; lastChange++) {
          expect(lastChange).toBeLessThan(MAX_CHANGES);
          const { ref } = await created();
          await write(ref, 1);
          await take(ref, 'one');
          await write(ref, 2);
          // One service at a time uses a data folder.
          await stop();
          const dying = new DyingConnection(new RpcLibvirt({ uri: TEST_URI }), lastChange);
          const killed = open(dying);
          const isDone = await CHANGES[change](killed, ref).then(
            () => true,
            () => false,
          );
          await killed.close();
          // The first start removes an unfinished clone, the second one merges the layers that only the clone needed.
          // Both end before they stop.
          for (let restart = 1; restart <= 2; restart++) {
            await start();
            await stop();
          }
          await start();
          await expectConsistent(ref);
          const names = (await backend.require('snapshots').list(ref)).map(({ name }) => name);
          const restored = await holds(await diskOf(ref), 1);
          expect(await holds(await diskOf(ref), restored ? 1 : 2)).toBe(true);
          if (change !== 'restore') expect(restored).toBe(false);
          if (names.includes('one')) {
            await onceFree(() => restore(ref, 'one'));
            expect(await holds(await diskOf(ref), 1)).toBe(true);
          }
          if (isDone) return;
          expect(dying.isDead).toBe(true);
        }
      },
      KILLS_MS,
    );
  });

  test(
    'a running guest finds its old files after a restore, and goes on while snapshots are merged below it',
    async () => {
      const { ref, uid } = await created({ start: true });
      const run = async (command: string): Promise<string> => {
        const request = { path: '/bin/sh', args: ['-c', command], timeoutMs: 120_000 };
        for (;;) {
          try {
            return (await backend.require('guestControl').run(ref, request)).stdout.trim();
          } catch (error) {
            // The guest boots.
            if (!DomainError.is(error, 'GUEST_AGENT_UNREACHABLE')) throw error;
          }
        }
      };
      await run('echo first > /root/note && sync');
      await take(ref, 'one');
      await run('echo second > /root/note && sync');
      await take(ref, 'two');
      await run('echo third > /root/note && sync');
      await restore(ref, 'one');
      expect(await run('cat /root/note')).toBe('first');
      await take(ref, 'three');
      await run('echo fourth > /root/note && sync');
      // A layer in the middle of the chain, the one below the top, and one outside the chain.
      for (const name of ['one', 'three', 'two']) await remove(ref, name);
      expect(await run('cat /root/note')).toBe('fourth');
      const merged = await recorder.untilVm(ref, ({ restartRequired }) => !restartRequired);
      expect(merged).toMatchObject({ uid, status: 'Running' });
      expect((await metadataOf(ref)).volumes.filter(({ role }) => role === 'layer')).toEqual([]);
      await backend.require('power').apply(ref, 'stop', { force: true });
      await recorder.untilVm(ref, ({ status }) => status === 'Stopped');
      await expectConsistent(ref);
    },
    BOOT_MS,
  );
});
