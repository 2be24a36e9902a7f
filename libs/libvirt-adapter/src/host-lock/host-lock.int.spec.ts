import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import type { Backend, VmSource } from '@headgate/domain-contracts';
import { createdVm, InventoryRecorder, recordingReporter, type BackendHarness } from '@headgate/testing';
import type { LibvirtConnection } from '../connection/libvirt-connection.js';
import { describeDomain } from '../domain-xml/domain-description.js';
import { RpcLibvirt } from '../rpc/rpc-libvirt.js';
import { LibvirtUnderTest, TEST_URI, whyLibvirtIsUnavailable } from '../testing/libvirt-under-test.js';
import { TINY_ENTRY, tinyGuest } from '../testing/tiny-guest.js';
import { POOL_NAME } from '../storage/storage-pool.js';

const missing = await whyLibvirtIsUnavailable();
const describeWithLibvirt = missing === undefined ? describe : describe.skip;
const BOOT_MS = 240_000;

/** Calls a function before each call of an operation. */
function withHook<K extends 'domains' | 'storage'>(
  connection: LibvirtConnection,
  group: K,
  operation: keyof LibvirtConnection[K],
  hook: () => Promise<void>,
): LibvirtConnection {
  const hooked = new Proxy(connection[group], {
    get: (target, name) => {
      const value = Reflect.get(target, name) as unknown;
      if (typeof value !== 'function') return value;
      const method = value.bind(target) as (...args: unknown[]) => Promise<unknown>;
      if (name !== operation) return method;
      return async (...args: unknown[]): Promise<unknown> => {
        await hook();
        return method(...args);
      };
    },
  });
  return new Proxy(connection, {
    get: (target, name) => (name === group ? hooked : (Reflect.get(target, name) as unknown)),
  });
}

describeWithLibvirt(`Two services on one libvirt${missing === undefined ? '' : `: skipped, ${missing}`}`, () => {
  let libvirt: LibvirtUnderTest;
  let otherData: string;
  let first: Backend;
  let second: Backend;
  let recorder: InventoryRecorder;
  let image: string;
  /** Called when the first service looks for locks, and before the second writes metadata. */
  const hooks = { onPoll: async (): Promise<void> => undefined, onWrite: async (): Promise<void> => undefined };

  beforeAll(async () => void (image = await tinyGuest()), BOOT_MS);
  beforeEach(async () => {
    libvirt = await LibvirtUnderTest.open();
    otherData = await mkdtemp(join(tmpdir(), 'hgtest-data-'));
    const options = { tinyGuest: () => Promise.resolve(image) };
    const connect = (): LibvirtConnection => new RpcLibvirt({ uri: TEST_URI });
    first = libvirt.backend({
      ...options,
      connection: withHook(connect(), 'storage', 'volumes', () => hooks.onPoll()),
    });
    second = libvirt.backend({
      ...options,
      dataDir: otherData,
      connection: withHook(connect(), 'domains', 'setMetadata', () => hooks.onWrite()),
    });
    recorder = InventoryRecorder.over(first.require('inventory'));
    await recorder.whenListed();
  });
  afterEach(async () => {
    hooks.onPoll = hooks.onWrite = async () => undefined;
    await recorder?.stop();
    await libvirt?.close();
    await rm(otherData, { recursive: true, force: true });
  }, 60_000);

  const tiny: VmSource = { kind: 'image', entry: TINY_ENTRY };
  const created = () =>
    createdVm(
      {
        backend: first,
        freshRef: () => libvirt.refOf(libvirt.freshName()),
        quickSource: async () => tiny,
      } as unknown as BackendHarness,
      recorder,
    );
  const locks = async (): Promise<string[]> =>
    (await libvirt.virsh.run(['vol-list', POOL_NAME])).split('\n').filter((line) => line.includes('.lock'));

  test('keep the deletion of a snapshot that one of them has acknowledged', async () => {
    const { ref } = await created();
    await first.require('snapshots').create(ref, { name: 'one' });
    let deletion: Promise<(() => Promise<void>) | undefined> | undefined;
    hooks.onWrite = async () => {
      hooks.onWrite = async () => undefined;
      // The second service has read the metadata. The first one deletes the snapshot now, or waits for the second.
      let polls = 0;
      const waits = new Promise<void>((resolve) => {
        hooks.onPoll = async () => void (++polls === 3 && resolve());
      });
      deletion = first
        .require('snapshots')
        .delete(ref, 'one')
        .then(({ remaining }) => remaining && (() => remaining(recordingReporter())));
      await Promise.race([waits, deletion]);
    };
    await second.require('provisioning').setTag(ref, 'red', true);
    const remaining = await deletion;
    expect(await first.require('snapshots').list(ref)).toMatchObject([{ name: 'one', phase: 'Deleting' }]);
    await remaining?.();
    for (const service of [first, second]) expect(await service.require('snapshots').list(ref)).toEqual([]);
    const { metadata } = describeDomain(await libvirt.virsh.run(['dumpxml', ref.name]));
    expect(metadata).toMatchObject({ tags: ['red'], snapshots: [] });
    expect(await locks()).toEqual([]);
  });

  test('lose no change when both change a VM at the same time', async () => {
    const { ref } = await created();
    const tags = Array.from({ length: 12 }, (_, i) => `tag-${String(i).padStart(2, '0')}`);
    await Promise.all(
      tags.map((tag, i) => (i % 2 === 0 ? first : second).require('provisioning').setTag(ref, tag, true)),
    );
    const { metadata } = describeDomain(await libvirt.virsh.run(['dumpxml', ref.name]));
    expect(metadata.tags).toEqual(tags);
    expect(await locks()).toEqual([]);
  });

  test('delete snapshots side by side, and both deletions end', async () => {
    const { ref } = await created();
    for (const name of ['one', 'two', 'three', 'four']) await first.require('snapshots').create(ref, { name });
    const remove = async (service: Backend, name: string): Promise<void> => {
      for (;;) {
        try {
          const { remaining } = await service.require('snapshots').delete(ref, name);
          return await remaining?.(recordingReporter());
        } catch (error) {
          // The other one is changing the disks at this moment.
          if ((error as { code?: string }).code !== 'BUSY') throw error;
          await setImmediate();
        }
      }
    };
    await Promise.all([
      remove(first, 'two').then(() => remove(first, 'one')),
      remove(second, 'three').then(() => remove(second, 'four')),
    ]);
    const { metadata } = describeDomain(await libvirt.virsh.run(['dumpxml', ref.name]));
    expect(metadata.snapshots).toEqual([]);
    expect(metadata.pending).toBeUndefined();
    expect(metadata.volumes.filter(({ role }) => role === 'layer')).toEqual([]);
  });
});
