import { chown, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SystemClock, type InstanceRef, type VmSource, type VmSpec } from '@headgate/domain-contracts';
import {
  createdVm,
  InventoryRecorder,
  PrivateLibvirtd,
  recordingReporter,
  SmallDisk,
  type BackendHarness,
} from '@headgate/testing';
import { LOCAL_NAMESPACE } from '../domains/instance-name.js';
import { LibvirtBackend } from '../libvirt-backend.js';
import { writeIdleDisk } from '../testing/idle-disk.js';
import { whyLibvirtIsUnavailable } from '../testing/libvirt-under-test.js';
import { TINY_ENTRY } from '../testing/tiny-guest.js';
import { POOL_NAME } from './storage-pool.js';

const why = process.getuid?.() === 0 ? await whyLibvirtIsUnavailable() : 'it needs root';
const suite = why === undefined ? describe : describe.skip;
const MIB = 1024 ** 2;
const GIB = 1024 ** 3;
const BOOT_MS = 240_000;
const UNPRIVILEGED_ID = 65534;
const tiny: VmSource = { kind: 'image', entry: TINY_ENTRY };

suite(`A storage pool on a disk that other programs fill${why === undefined ? '' : `: skipped, ${why}`}`, () => {
  let machine: PrivateLibvirtd;
  let disk: SmallDisk;
  let dataDir: string;
  let backend: LibvirtBackend;
  let recorder: InventoryRecorder;

  beforeEach(async () => {
    machine = await PrivateLibvirtd.create();
    disk = new SmallDisk(machine.images, 4096);
    await chown(machine.images, UNPRIVILEGED_ID, UNPRIVILEGED_ID);
    await machine.start();
    dataDir = await mkdtemp(join(tmpdir(), 'hgtest-data-'));
    // A guest that boots would take some of the space that is measured.
    const image = join(dataDir, 'idle.qcow2');
    await writeIdleDisk(image);
    backend = LibvirtBackend.open({
      context: 'local',
      uri: machine.uri,
      dataDir,
      clock: new SystemClock(),
      accelerator: () => Promise.resolve('tcg'),
      tinyGuest: () => Promise.resolve(image),
      poolPath: machine.images,
      importAllow: ['127.0.0.0/8'],
    });
    recorder = InventoryRecorder.over(backend.require('inventory'));
    await recorder.whenListed();
  }, BOOT_MS);

  afterEach(async () => {
    await recorder.stop();
    await backend.close();
    for (const name of await machine.domains()) await machine.virsh('destroy', name).catch(() => '');
    disk.unmount();
    await machine.close();
    await rm(dataDir, { recursive: true });
  });

  const refOf = (name: string): InstanceRef => ({ kind: 'vm', context: 'local', namespace: LOCAL_NAMESPACE, name });
  const harness = { get backend() { return backend; }, quickSource: async () => tiny } as unknown as BackendHarness; // prettier-ignore
  const create = (name: string, start = false) => createdVm(harness, recorder, { ref: refOf(name), start });

  test(
    'refuses the changes that need space before anything is touched, and allows those that free it',
    async () => {
      const { ref: running } = await create('running', true);
      const { ref: stopped } = await create('stopped');
      const snapshots = backend.require('snapshots');
      const { remaining } = await snapshots.create(stopped, { name: 'one' });
      await remaining?.(recordingReporter());
      const before = await machine.volumes();
      disk.resize(32 * MIB);

      const spec: VmSpec = {
        ref: refOf('new'),
        source: tiny,
        cpu: 1,
        memoryBytes: 256 * MIB,
        diskBytes: GIB,
        start: false,
      };
      const hardware = backend.require('hardware');
      const [volume] = (await hardware.read(running)).disks;
      const refused = {
        create: () => backend.require('provisioning').create(spec),
        clone: () => backend.require('cloning').clone(stopped, refOf('clone')),
        'create snapshot': () => snapshots.create(running, { name: 'two' }),
        'restore snapshot': () => snapshots.restore(stopped, 'one'),
        'import image': () =>
          backend.require('images').import({
            ref: { context: 'local', namespace: LOCAL_NAMESPACE, name: 'image' },
            bytes: GIB,
            origin: { kind: 'url', url: 'http://127.0.0.1:1/disk.img' },
          }),
        'attach volume': () => hardware.apply(running, { kind: 'attach-volume', disk: { sizeBytes: GIB } }),
        'expand volume': () =>
          hardware.apply(running, { kind: 'expand-volume', volume: volume?.volume ?? '', sizeBytes: 2 * GIB }),
      };
      for (const [name, change] of Object.entries(refused)) {
        const error: unknown = await change().then(
          () => 'it was accepted',
          (reason: unknown) => reason,
        );
        expect([name, error]).toEqual([name, expect.objectContaining({ code: 'INSUFFICIENT_STORAGE' })]);
        expect([name, String(error)]).toEqual([
          name,
          expect.stringMatching(`storage pool ${POOL_NAME} has (?:only )?3[12]`),
        ]);
      }
      expect(await machine.volumes()).toEqual(before);
      expect(await machine.domains()).toHaveLength(2);
      const checks = await backend.require('diagnostics').checks();
      expect(checks.find(({ name }) => name === 'storage-pool')).toMatchObject({
        status: 'error',
        message: expect.stringMatching(/has 3[12]\S* free.*refused/),
      });

      await backend.require('power').apply(running, 'stop', { force: true });
      const deletion = await snapshots.delete(stopped, 'one');
      await deletion.remaining?.(recordingReporter());
      await backend.require('provisioning').delete(running);
      expect(await machine.domains()).toHaveLength(1);
      disk.resize(2 * GIB);
      await create('new');
    },
    BOOT_MS,
  );
});
