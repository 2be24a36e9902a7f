import { rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Backend, InstanceRef, VmSpec } from '@headgate/domain-contracts';
import { InventoryRecorder, recordingReporter } from '@headgate/testing';
import { describeDomain } from '../domain-xml/domain-description.js';
import { DomainEditor } from '../domains/domain-editor.js';
import { WorkInProgress } from '../work-in-progress/work-in-progress.js';
import { POOL_NAME, StoragePool } from '../storage/storage-pool.js';
import { fileDisk, foreignDomainXml } from '../testing/domain-xml.js';
import { openShell, ROOT_LOGIN, shell } from '../testing/guest-shell.js';
import { LibvirtUnderTest, TEST_URI, whyLibvirtIsUnavailable } from '../testing/libvirt-under-test.js';
import { TINY_ENTRY, tinyGuest } from '../testing/tiny-guest.js';
import { VirshConnection } from '../virsh/virsh-connection.js';

const missing = await whyLibvirtIsUnavailable();
const describeWithLibvirt = missing === undefined ? describe : describe.skip;
const MIB = 1024 ** 2;
const BOOT_MS = 240_000;

describeWithLibvirt(`LibvirtHardware on libvirt${missing === undefined ? '' : `: skipped, ${missing}`}`, () => {
  let libvirt: LibvirtUnderTest;
  let backend: Backend;
  let recorder: InventoryRecorder;
  let image: string;
  const connection = new VirshConnection({ uri: TEST_URI });
  const pool = new StoragePool(connection, POOL_NAME, '');
  const editor = new DomainEditor(connection);

  beforeAll(async () => void (image = await tinyGuest()), BOOT_MS);
  beforeEach(async () => {
    libvirt = await LibvirtUnderTest.open();
    backend = libvirt.backend({ tinyGuest: () => Promise.resolve(image) });
    recorder = InventoryRecorder.over(backend.require('inventory'));
    await recorder.whenListed();
  });
  afterEach(async () => {
    await recorder?.stop();
    await libvirt?.close();
  }, 60_000);

  const hardware = () => backend.require('hardware');
  const create = async (overrides: Partial<VmSpec> = {}): Promise<InstanceRef> => {
    const ref = libvirt.refOf(libvirt.freshName());
    const size = { cpu: 1, memoryBytes: 192 * MIB, diskBytes: 128 * MIB };
    const spec: VmSpec = { ref, ...size, source: { kind: 'image', entry: TINY_ENTRY }, start: false, ...overrides };
    await (await backend.require('provisioning').create(spec)).remaining?.(recordingReporter());
    await recorder.untilVm(ref, ({ status }) => status === (spec.start ? 'Running' : 'Stopped'));
    return ref;
  };
  const addDisk = async (ref: InstanceRef): Promise<string> =>
    (await hardware().apply(ref, { kind: 'attach-volume', disk: { sizeBytes: 64 * MIB } })).volume ?? '';
  const disksOf = async (ref: InstanceRef) =>
    (await hardware().read(ref)).disks.filter(({ isRoot, type }) => !isRoot && type === 'disk');
  const uuidOf = async ({ name }: InstanceRef): Promise<string> => (await libvirt.virsh.run(['domuuid', name])).trim();
  const mark = (): string => new WorkInProgress(join(libvirt.dataDir, 'libvirt', 'local')).mark();
  /** Starts the service again, as after it was killed. */
  const startAgain = async (): Promise<void> => {
    await recorder.stop();
    await backend.close();
    backend = libvirt.backend({ tinyGuest: () => Promise.resolve(image) });
    recorder = InventoryRecorder.over(backend.require('inventory'));
    await recorder.whenListed();
  };

  /**
   * Repeats a question to the guest until the answer is right: a guest notices a change of its hardware a moment later
   * than libvirt.
   */
  const untilGuest = async <T>(ask: () => Promise<T>, isRight: (answer: T) => boolean): Promise<T> => {
    for (;;) {
      const answer = await ask();
      if (isRight(answer)) return answer;
    }
  };

  test(
    'a guest sees a new disk, its new size, and its removal',
    async () => {
      const ref = await create({ start: true, cloudInit: ROOT_LOGIN });
      const stream = await openShell(backend.require('consoles'), ref);
      const disks = async (): Promise<string[]> => (await shell(stream, 'ls /sys/block')).split(/\s+/);
      const before = await disks();
      const volume = await addDisk(ref);
      // The disc of cloud-init goes at any time after the guest has read it, so the disks are not counted.
      const isNew = (name: string): boolean => !before.includes(name);
      const added = (await untilGuest(disks, (names) => names.some(isNew))).filter(isNew);
      expect(added).toHaveLength(1);
      const bytes = async (): Promise<number> => 512 * Number(await shell(stream, `cat /sys/block/${added[0]}/size`));
      expect(await bytes()).toBe(64 * MIB);
      await hardware().apply(ref, { kind: 'expand-volume', volume, sizeBytes: 128 * MIB });
      await untilGuest(bytes, (size) => size === 128 * MIB);
      await hardware().apply(ref, { kind: 'detach-volume', volume, deleteVolume: true });
      const after = await disks();
      expect(after.filter(isNew)).toEqual([]);
      expect(after).toContain('vda');
      // At most the disc of cloud-init is gone.
      expect(before.filter((name) => !after.includes(name)).length).toBeLessThanOrEqual(1);
      expect(await libvirt.volumes()).not.toContain(volume);
      stream.destroy();
    },
    BOOT_MS,
  );

  test(
    'CPUs are added to a running VM, and the configuration follows',
    async () => {
      const ref = await create({ start: true });
      const { maxCpu } = await hardware().read(ref);
      if ((maxCpu ?? 1) < 2) return;
      expect(await hardware().apply(ref, { kind: 'scale', cpu: 2, restart: true })).toEqual({ effect: 'now' });
      expect(await hardware().read(ref)).toMatchObject({ cpu: 2, pending: [] });
    },
    BOOT_MS,
  );

  test(
    'a guest that does not release a disk keeps it',
    async () => {
      const ref = await create();
      const volume = await addDisk(ref);
      await backend.require('power').apply(ref, 'start');
      await recorder.untilVm(ref, ({ status }) => status === 'Running');
      await backend.require('power').apply(ref, 'pause');
      const detach = hardware().apply(ref, { kind: 'detach-volume', volume, deleteVolume: true });
      await expect(detach).rejects.toMatchObject({ code: 'BACKEND_TIMEOUT' });
      expect(await libvirt.volumes()).toContain(volume);
      expect(await disksOf(ref)).toMatchObject([{ volume }]);
      expect((await hardware().read(ref)).pending).toEqual([]);
    },
    BOOT_MS,
  );

  test(
    'a volume that was created and not attached when the service was killed is removed, one in use is kept',
    async () => {
      const ref = await create();
      const used = await addDisk(ref);
      const uuid = await uuidOf(ref);
      const unused = `${ref.name}-${uuid.slice(0, 8)}-leftover.qcow2`;
      await editor.updateMetadata(uuid, (metadata) => ({
        ...metadata,
        volumes: [
          ...metadata.volumes.map((volume) => (volume.name === used ? { ...volume, pending: mark() } : volume)),
          { pool: POOL_NAME, name: unused, role: 'data', pending: mark() },
        ],
      }));
      await pool.createBlank(unused, 64 * MIB);
      await startAgain();
      const isSettled = async (): Promise<boolean> => {
        const { metadata } = describeDomain(await libvirt.virsh.run(['dumpxml', uuid]));
        return metadata.volumes.every(({ pending }) => pending === undefined);
      };
      while (!(await isSettled())) await new Promise((resolve) => setImmediate(resolve));
      const volumes = await libvirt.volumes();
      expect(volumes).toContain(used);
      expect(volumes).not.toContain(unused);
      expect(await disksOf(ref)).toMatchObject([{ volume: used }]);
    },
    BOOT_MS,
  );

  test(
    'a VM that was stopped for its restart when the service was killed is started',
    async () => {
      const [ref, other] = [await create(), await create()];
      const uuid = await uuidOf(ref);
      await editor.updateMetadata(uuid, (metadata) => ({ ...metadata, restarting: mark() }));
      const ofOther = await uuidOf(other);
      await editor.updateMetadata(ofOther, (metadata) => ({ ...metadata, restarting: 'another service' }));
      await startAgain();
      await recorder.untilVm(ref, ({ status }) => status === 'Running');
      expect(recorder.vm(other)?.status).toBe('Stopped');
    },
    BOOT_MS,
  );

  test(
    'a symbolic link in the pool, and a volume based on a file outside of it, are not attached',
    async () => {
      const ref = await create();
      const folder = await pool.path();
      const link = join(folder, `${libvirt.prefix}-link.raw`);
      await symlink('/etc/hostname', link);
      const outside = `${libvirt.prefix}-outside.qcow2`;
      try {
        await pool.createOverlay(outside, 64 * MIB, { path: image, format: 'qcow2' });
        await pool.volumes();
        for (const volume of [`${libvirt.prefix}-link.raw`, outside]) {
          const { refusals } = await hardware().plan(ref, { kind: 'attach-volume', disk: { volume } });
          expect(refusals).toHaveLength(1);
          expect(['INVALID_SOURCE', 'VOLUME_NOT_FOUND', 'BUSY']).toContain(refusals[0]?.code);
        }
        expect(await disksOf(ref)).toEqual([]);
      } finally {
        await rm(link, { force: true });
      }
    },
    BOOT_MS,
  );

  test('shows the new size of a disk of a stopped VM immediately', async () => {
    const ref = await create();
    const root = (await hardware().read(ref)).disks.find(({ isRoot }) => isRoot)?.volume ?? '';
    await hardware().apply(ref, { kind: 'expand-volume', volume: root, sizeBytes: 256 * MIB });
    const { status } = await recorder.untilVm(ref, ({ diskBytes }) => diskBytes === 256 * MIB);
    expect(status).toBe('Stopped');
  });

  test('refuses to plug devices into a running foreign VM of the machine type pc without ACPI, and changes nothing', async () => {
    const name = libvirt.freshName();
    const disk = join(libvirt.sharedDir, `${name}.raw`);
    await writeFile(disk, Buffer.alloc(MIB));
    await libvirt.define(foreignDomainXml({ name, disks: fileDisk(disk, 'raw'), hasAcpi: false }));
    await libvirt.virsh.run(['start', name]);
    const ref = libvirt.refOf(name);
    await recorder.untilVm(ref, ({ status }) => status === 'Running');
    const [network] = await libvirt.createNetworks();
    const before = await libvirt.virsh.run(['dumpxml', name]);
    const nic = (await hardware().read(ref)).nics[0]?.name ?? '';
    for (const change of [
      { kind: 'attach-volume', disk: { sizeBytes: 64 * MIB } },
      { kind: 'add-nic', nic: 'lan', network },
      { kind: 'remove-nic', nic },
    ] as const) {
      const { refusals } = await hardware().plan(ref, change);
      expect(refusals).toMatchObject([{ code: 'WRONG_STATE', reason: expect.stringContaining('ACPI') }]);
      await expect(hardware().apply(ref, change)).rejects.toMatchObject({ code: 'WRONG_STATE' });
    }
    expect(await libvirt.virsh.run(['dumpxml', name])).toBe(before);
    expect(await libvirt.volumes()).toEqual([]);
    await libvirt.virsh.run(['destroy', name]);
    await recorder.untilVm(ref, ({ status }) => status === 'Stopped');
    await hardware().apply(ref, { kind: 'attach-volume', disk: { sizeBytes: 64 * MIB } });
  });
});
