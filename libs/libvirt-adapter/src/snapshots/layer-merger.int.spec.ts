import { readFile } from 'node:fs/promises';
import type { Backend, InstanceRef, VmSource } from '@headgate/domain-contracts';
import { createdVm, InventoryRecorder, recordingReporter, type BackendHarness } from '@headgate/testing';
import type { LibvirtConnection } from '../connection/libvirt-connection.js';
import { describeDomain } from '../domain-xml/domain-description.js';
import type { InstanceMetadata } from '../domain-xml/instance-metadata.js';
import { RpcLibvirt } from '../rpc/rpc-libvirt.js';
import { LibvirtUnderTest, TEST_URI, whyLibvirtIsUnavailable } from '../testing/libvirt-under-test.js';
import { TINY_ENTRY, tinyGuest } from '../testing/tiny-guest.js';

const missing = await whyLibvirtIsUnavailable();
const describeWithLibvirt = missing === undefined ? describe : describe.skip;
const BOOT_MS = 240_000;

type Hook = () => Promise<void>;

/** A connection that runs hooks before and after it begins a merge. */
function withHooks(connection: LibvirtConnection, hooks: { before: Hook; after: Hook }): LibvirtConnection {
  const blocks = new Proxy(connection.blocks, {
    get: (target, name) => {
      const value = Reflect.get(target, name) as unknown;
      if (typeof value !== 'function') return value;
      if (name !== 'commit') return value.bind(target) as unknown;
      return async (...args: Parameters<typeof target.commit>): Promise<void> => {
        await hooks.before();
        await target.commit(...args);
        await hooks.after();
      };
    },
  });
  return new Proxy(connection, {
    get: (target, name) => (name === 'blocks' ? blocks : (Reflect.get(target, name) as unknown)),
  });
}

describeWithLibvirt(`Merges on libvirt${missing === undefined ? '' : `: skipped, ${missing}`}`, () => {
  let libvirt: LibvirtUnderTest;
  let backend: Backend;
  let recorder: InventoryRecorder;
  let image: string;
  const hooks: { before: Hook; after: Hook } = { before: async () => undefined, after: async () => undefined };

  beforeAll(async () => void (image = await tinyGuest()), BOOT_MS);
  beforeEach(async () => {
    libvirt = await LibvirtUnderTest.open();
    const connection = withHooks(new RpcLibvirt({ uri: TEST_URI }), hooks);
    backend = libvirt.backend({ tinyGuest: () => Promise.resolve(image), connection });
    recorder = InventoryRecorder.over(backend.require('inventory'));
    await recorder.whenListed();
  });
  afterEach(async () => {
    hooks.before = hooks.after = async () => undefined;
    await recorder?.stop();
    await libvirt?.close();
  }, 60_000);

  const tiny: VmSource = { kind: 'image', entry: TINY_ENTRY };
  const harness = (): BackendHarness =>
    ({
      backend,
      freshRef: () => libvirt.refOf(libvirt.freshName()),
      quickSource: async () => tiny,
    }) as unknown as BackendHarness;
  const metadataOf = async ({ name }: InstanceRef): Promise<InstanceMetadata> =>
    describeDomain(await libvirt.virsh.run(['dumpxml', name])).metadata;
  const killGuest = async ({ name }: InstanceRef): Promise<void> =>
    void process.kill(Number(await readFile(`/run/libvirt/qemu/${name}.pid`, 'utf8')), 'SIGKILL');

  test.each(['before', 'after'] as const)(
    'completes when QEMU dies right %s the merge has begun',
    async (moment) => {
      const { ref } = await createdVm(harness(), recorder, { start: true });
      const snapshots = backend.require('snapshots');
      await snapshots.create(ref, { name: 'one' });
      hooks[moment] = async () => {
        hooks[moment] = async () => undefined;
        await killGuest(ref);
      };
      const { remaining } = await snapshots.delete(ref, 'one');
      await remaining?.(recordingReporter());
      await recorder.untilVm(ref, ({ status }) => status !== 'Running');
      expect(await snapshots.list(ref)).toEqual([]);
      const { pending, volumes } = await metadataOf(ref);
      expect(pending).toBeUndefined();
      expect(volumes.filter(({ role }) => role === 'layer')).toEqual([]);
      // The VM can be changed again.
      await snapshots.create(ref, { name: 'two' });
    },
    BOOT_MS,
  );

  test(
    'leaves a snapshot that can be deleted again when libvirt refuses the merge',
    async () => {
      const { ref } = await createdVm(harness(), recorder, { start: true });
      const snapshots = backend.require('snapshots');
      await snapshots.create(ref, { name: 'one' });
      hooks.before = () => Promise.reject(new Error('internal error: refused'));
      const first = await snapshots.delete(ref, 'one');
      await expect(first.remaining?.(recordingReporter())).rejects.toThrow('refused');
      expect((await metadataOf(ref)).pending).toBeUndefined();
      hooks.before = async () => undefined;
      const second = await snapshots.delete(ref, 'one');
      await second.remaining?.(recordingReporter());
      expect(await snapshots.list(ref)).toEqual([]);
      expect((await metadataOf(ref)).volumes.filter(({ role }) => role === 'layer')).toEqual([]);
    },
    BOOT_MS,
  );
});
