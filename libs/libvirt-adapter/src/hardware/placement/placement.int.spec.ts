import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Backend, InstanceRef, SetPlacementChange } from '@headgate/domain-contracts';
import { InventoryRecorder } from '@headgate/testing';
import { formatXml } from '../../xml/xml.js';
import { hostdevElement, type DeviceAddress } from '../../host-resources/device-address.js';
import { foreignDomainXml, ownDomainXml } from '../../testing/domain-xml.js';
import { LibvirtUnderTest, whyLibvirtIsUnavailable } from '../../testing/libvirt-under-test.js';
import { withPlacement } from './edit-placement-xml.js';

const run = promisify(execFile);
const missing = await whyLibvirtIsUnavailable();
const describeWithLibvirt = missing === undefined ? describe : describe.skip;
const hasValidator = await run('xmllint', ['--version']).then(
  () => true,
  () => false,
);
const SCHEMA = '/usr/share/libvirt/schemas/domain.rng';
const MIB = 1024 ** 2;
const TIMEOUT_MS = 120_000;

describeWithLibvirt(`placement on libvirt${missing === undefined ? '' : `: skipped, ${missing}`}`, () => {
  let libvirt: LibvirtUnderTest;
  let backend: Backend;
  let recorder: InventoryRecorder;

  beforeEach(async () => {
    libvirt = await LibvirtUnderTest.open();
    backend = libvirt.backend();
    recorder = InventoryRecorder.over(backend.require('inventory'));
    await recorder.whenListed();
  });
  afterEach(async () => {
    await recorder?.stop();
    await libvirt?.close();
  }, 60_000);

  const hardware = () => backend.require('hardware');
  const given = async (status: 'Stopped' | 'Running', disks?: string): Promise<InstanceRef> => {
    const ref = libvirt.refOf(libvirt.freshName());
    await libvirt.define(foreignDomainXml({ name: ref.name, disks }));
    if (status === 'Running') await libvirt.virsh.run(['start', ref.name]);
    await recorder.untilVm(ref, (vm) => vm.status === status);
    return ref;
  };
  const place = (ref: InstanceRef, change: Omit<SetPlacementChange, 'kind' | 'restart'>) =>
    hardware().apply(ref, { kind: 'set-placement', restart: false, ...change });
  /** The CPUs of the host as virsh reports them for the first CPU or the emulator. */
  const pinned = async (command: 'vcpupin' | 'emulatorpin', { name }: InstanceRef, scope: string): Promise<string> =>
    /^ *(?:0 +)?(\S+)\s*$/m.exec(await libvirt.virsh.run([command, name, scope]))?.[1] ?? '';

  test(
    'pins a running guest, as virsh and its threads show, and frees it',
    async () => {
      const ref = await given('Running');
      const before = await pinned('vcpupin', ref, '--live');
      expect(await place(ref, { pinning: { vcpus: [{ vcpu: 0, cpus: '0' }], emulatorCpus: '0' } })).toEqual({
        effect: 'now',
      });
      for (const command of ['vcpupin', 'emulatorpin'] as const)
        for (const scope of ['--live', '--config']) expect([command, scope, await pinned(command, ref, scope)]).toEqual([command, scope, '0']); // prettier-ignore
      expect((await hardware().read(ref)).pending).toEqual([]);

      await place(ref, { pinning: { vcpus: [], emulatorCpus: '' } });
      expect(await pinned('vcpupin', ref, '--live')).toBe(before);
      expect(await libvirt.virsh.run(['dumpxml', ref.name, '--inactive'])).not.toContain('cputune');
      const { placement, pending } = await hardware().read(ref);
      expect([placement.pinning?.vcpus, pending]).toEqual([[], []]);
    },
    TIMEOUT_MS,
  );

  test(
    'keeps NUMA nodes for the next start of a running guest, with the difference',
    async () => {
      const ref = await given('Running');
      const memory = { mode: 'strict', nodes: '0' };
      expect(await place(ref, { pinning: { memory } })).toEqual({ effect: 'next-start' });
      const { pending } = await hardware().read(ref);
      expect(pending).toEqual([{ field: 'memory nodes', running: '', configured: 'strict 0' }]);
      expect(await libvirt.virsh.run(['numatune', ref.name, '--config'])).toMatch(/numa_nodeset\s*: 0/);
    },
    TIMEOUT_MS,
  );

  test('refuses pages that the host has not reserved', async () => {
    const ref = await given('Stopped');
    const [host] = await backend.require('hostResources').topology();
    const pool = host?.hugepages.find(({ pageBytes }) => pageBytes === 2 * MIB);
    if (!pool || pool.total > 0) return;
    const before = await libvirt.virsh.run(['dumpxml', ref.name]);
    await expect(place(ref, { hugepageBytes: 2 * MIB })).rejects.toMatchObject({
      code: 'WRONG_STATE',
      message: expect.stringMatching(/needs 64 pages of 2Mi, and \S+ has 0 reserved/),
    });
    expect(await libvirt.virsh.run(['dumpxml', ref.name])).toBe(before);
  });

  test('never takes the disks, the default route or a bridge from this machine', async () => {
    const ref = await given('Stopped');
    const devices = await backend.require('hostResources').devices();
    const names = (await libvirt.virsh.run(['nodedev-list', '--cap', 'pci']))
      .split(/\s+/)
      .filter((name) => name !== '');
    expect(devices.filter(({ kind }) => kind === 'pci').map(({ name }) => name).sort()).toEqual(names.sort()); // prettier-ignore
    const driverOf = async (name: string): Promise<string | undefined> =>
      /<driver>\s*<name>([^<]+)/.exec(await libvirt.virsh.run(['nodedev-dumpxml', name]))?.[1];
    const uses = devices.filter(({ refusal }) => refusal !== null);
    for (const { name, refusal } of uses) {
      const driver = await driverOf(name);
      const attach = hardware().apply(ref, { kind: 'attach-host-device', device: name });
      await expect(attach).rejects.toThrow(refusal ?? '');
      expect([name, await driverOf(name)]).toEqual([name, driver]);
    }
    const blocks = (await libvirt.virsh.run(['nodedev-list', '--cap', 'storage'])).trim().split('\n');
    if (blocks.join('') !== '') expect(uses.map(({ refusal }) => refusal).join()).toMatch(/it has the disk \/dev\//);
    expect(await libvirt.virsh.run(['dumpxml', ref.name])).not.toContain('hostdev');
  });

  test('reads a device that another tool has passed through, and takes it back', async () => {
    const address: DeviceAddress = { kind: 'usb', vendor: 0x0951, product: 0x1666 };
    const ref = await given('Stopped', formatXml({ hostdev: hostdevElement(address) }));
    expect((await hardware().read(ref)).hostDevices).toEqual([
      { name: 'usb_0951_1666', device: 'usb_0951_1666', kind: 'usb' },
    ]);
    await hardware().apply(ref, { kind: 'detach-host-device', name: 'usb_0951_1666' });
    expect((await hardware().read(ref)).hostDevices).toEqual([]);
  });

  (hasValidator ? test : test.skip)('of every kind follows the schema of libvirt, which also defines it', async () => {
    const addresses: readonly DeviceAddress[] = [
      { kind: 'pci', domain: 0, bus: 3, slot: 31, function: 7 },
      { kind: 'usb', vendor: 0x0951, product: 0x1666, port: { bus: 1, device: 12 } },
      { kind: 'usb', vendor: 0x0952, product: 0x1666 },
      { kind: 'mdev', uuid: '4b20d080-1b54-4048-85b3-a6a62d165c01' },
    ];
    const hostdevs = addresses.map((address) => formatXml({ hostdev: hostdevElement(address) })).join('');
    const name = libvirt.freshName();
    await libvirt.define(foreignDomainXml({ name, disks: hostdevs }).replace('<vcpu>1<', '<vcpu>2<'));
    const xml = await libvirt.virsh.run(['dumpxml', name, '--inactive']);
    const cells = [
      { cpus: '0', memoryBytes: 64 * MIB },
      { cpus: '1', memoryBytes: 64 * MIB },
    ];
    const pinning = { vcpus: [{ vcpu: 1, cpus: '0' }], emulatorCpus: '0', memory: { mode: 'interleave', nodes: '0' }, cells }; // prettier-ignore
    const whole = { maxCpu: 2, memoryBytes: 128 * MIB };
    const placed = withPlacement(xml, { pinning, hugepageBytes: 2 * MIB, whole });
    await libvirt.define(placed);
    const ref = libvirt.refOf(name);
    expect((await hardware().read(ref)).placement).toEqual({ dedicated: null, pinning, hugepageBytes: 2 * MIB });
    expect((await hardware().read(ref)).hostDevices.map(({ name: device }) => device)).toEqual([
      'pci_0000_03_1f_7',
      'usb_0951_1666_1_12',
      'usb_0952_1666',
      'mdev_4b20d080_1b54_4048_85b3_a6a62d165c01',
    ]);
    const own = libvirt.freshName();
    await libvirt.define(ownDomainXml({ name: own, maxCpu: 4, maxMemoryBytes: 1024 * MIB })); // prettier-ignore
    const ownXml = await libvirt.virsh.run(['dumpxml', own, '--inactive']);
    const none = { vcpus: [], emulatorCpus: '', memory: null, cells: [] };
    const limits = { maxCpu: 4, memoryBytes: 512 * MIB };
    const documents = [placed, withPlacement(ownXml, { pinning: none, hugepageBytes: null, whole: limits })];
    for (const [index, document] of documents.entries()) {
      const path = join(libvirt.sharedDir, `placed-${index}.xml`);
      await writeFile(path, document);
      await run('xmllint', ['--noout', '--relaxng', SCHEMA, path]);
    }
  });
});
