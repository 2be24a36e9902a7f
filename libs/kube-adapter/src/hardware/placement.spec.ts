import type { InstanceRef, SetPlacementChange } from '@headgate/domain-contracts';
import { SandboxHarness, type SandboxHarnessOptions } from '../testing/sandbox-harness.contract.js';

const MIB = 1024 ** 2;
const VMS = 'virtualmachines.kubevirt.io';
const RESERVING = {
  name: 'node-a',
  cpus: 4,
  cpuManager: true,
  resources: { 'hugepages-2Mi': '2Gi', 'hugepages-1Gi': '4Gi', 'example.org/gpu': '2', 'example.org/nic': '1' },
};
const PERMITTED = {
  pciHostDevices: [
    { pciVendorSelector: '10DE:1EB8', resourceName: 'example.org/gpu' },
    { pciVendorSelector: '8086:1563', resourceName: 'example.org/nic' },
    { pciVendorSelector: '8086:0000', resourceName: 'example.org/absent' },
  ],
  mediatedDevices: [{ mdevNameSelector: 'GRID T4-1Q', resourceName: 'example.org/GRID_T4-1Q' }],
};

interface Domain {
  cpu?: Record<string, unknown>;
  memory?: Record<string, unknown>;
  devices: Record<string, unknown>;
}

describe('the placement of VMs in a cluster', () => {
  let harness: SandboxHarness;

  const open = async (cluster: NonNullable<SandboxHarnessOptions['simulation']>['cluster'] = {}): Promise<void> => {
    const nodes = [RESERVING, { name: 'node-b' }];
    harness = await SandboxHarness.open({ simulation: { cluster: { nodes, permittedHostDevices: PERMITTED, ...cluster } } }); // prettier-ignore
  };
  afterEach(() => harness.close());

  const hardware = () => harness.backend.require('hardware');
  const place = (change: Omit<SetPlacementChange, 'kind' | 'restart'>, restart = false) =>
    ({ kind: 'set-placement', restart, ...change }) as const;
  const domainOf = ({ namespace, name }: InstanceRef): Domain => {
    const vm = harness.sandbox.store.get(VMS, { namespace, name }) as unknown;
    return (vm as { spec: { template: { spec: { domain: Domain } } } }).spec.template.spec.domain;
  };
  const edit = ({ namespace, name }: InstanceRef, change: (vm: never) => void): void =>
    void harness.sandbox.store.patch(VMS as never, { namespace, name }, change as never);
  const reasons = async (ref: InstanceRef, change: Parameters<ReturnType<typeof hardware>['plan']>[1]) =>
    (await hardware().plan(ref, change)).refusals.map(({ reason }) => reason);

  test('keeps what this service does not know', async () => {
    await open();
    const ref = await harness.givenVm('Stopped');
    edit(ref, (vm: { spec: { template: { spec: { domain: Domain } } } }) => {
      const { domain } = vm.spec.template.spec;
      domain.cpu = { ...domain.cpu, model: 'host-model', features: [{ name: 'vmx' }] };
      domain.memory = { ...domain.memory, reservedOverhead: { addedOverhead: '1Gi' } };
    });
    const before = structuredClone(domainOf(ref));
    const numa = { isOn: true, isolatesEmulator: true, passesNuma: true };
    await hardware().apply(ref, place({ dedicated: numa, hugepageBytes: 2 * MIB }));
    expect(domainOf(ref)).toMatchObject({
      cpu: {
        ...before.cpu,
        dedicatedCpuPlacement: true,
        isolateEmulatorThread: true,
        numa: { guestMappingPassthrough: {} },
      },
      memory: { ...before.memory, hugepages: { pageSize: '2Mi' } },
    });
    const none = { isOn: false, isolatesEmulator: false, passesNuma: false };
    await hardware().apply(ref, place({ dedicated: none, hugepageBytes: null }));
    expect(domainOf(ref)).toEqual(before);
  });

  test('restarts a running VM on request, which then has CPUs of its own', async () => {
    await open();
    const ref = await harness.givenVm('Running');
    const change = place({ dedicated: { isOn: true } }, true);
    expect(await hardware().plan(ref, change)).toMatchObject({ effect: 'restart', refusals: [] });
    expect(await hardware().apply(ref, change)).toEqual({ effect: 'restart' });
    await harness.recorder.untilVm(ref, ({ node, restartRequired }) => node === 'node-a' && !restartRequired);
    expect((await hardware().read(ref)).pending).toEqual([]);
  });

  test('needs a node that reserves CPUs, and enough of them', async () => {
    await open({ nodes: [{ name: 'node-a' }, { name: 'node-b' }] });
    const ref = await harness.givenVm('Stopped');
    const change = place({ dedicated: { isOn: true } });
    const { refusals } = await hardware().plan(ref, change);
    expect(refusals).toMatchObject([{ code: 'WRONG_STATE', remedy: expect.stringContaining('cpumanager=true') }]);
    await expect(hardware().apply(ref, change)).rejects.toMatchObject({ code: 'WRONG_STATE' });
    expect(domainOf(ref).cpu).not.toHaveProperty('dedicatedCpuPlacement');
  });

  test('counts a CPU for the emulator', async () => {
    await open();
    const ref = await harness.givenVm('Stopped');
    await hardware().apply(ref, { kind: 'scale', cpu: 4, restart: false });
    expect(await reasons(ref, place({ dedicated: { isOn: true } }))).toEqual([]);
    expect(await reasons(ref, place({ dedicated: { isOn: true, isolatesEmulator: true } }))).toEqual([
      expect.stringMatching(/needs 5 CPUs of its own, and the largest node that reserves CPUs has 4/),
    ]);
  });

  test.each<[title: string, change: Omit<SetPlacementChange, 'kind' | 'restart'>, reason: RegExp]>([
    ['an isolated emulator alone', { dedicated: { isolatesEmulator: true } }, /needs CPUs that are reserved/],
    ['NUMA nodes without hugepages', { dedicated: { isOn: true, passesNuma: true } }, /whose memory is in hugepages/],
    ['pages of a size that no node has', { hugepageBytes: 16 * MIB }, /no node has pages of 16Mi: they have 2Mi and 1Gi/], // prettier-ignore
    ['CPUs by their numbers', { pinning: { emulatorCpus: '0' } }, /choose the CPUs of a VM themselves/],
  ])('refuses %s', async (_title, change, reason) => {
    await open();
    const ref = await harness.givenVm('Stopped');
    const before = structuredClone(domainOf(ref));
    expect(await reasons(ref, place(change))).toEqual([expect.stringMatching(reason)]);
    await expect(hardware().apply(ref, place(change))).rejects.toThrow(reason);
    expect(domainOf(ref)).toEqual(before);
  });

  test('refuses more pages than a node has, and half a page', async () => {
    await open();
    const ref = await harness.givenVm('Stopped');
    await hardware().apply(ref, { kind: 'scale', memoryBytes: 3 * 1024 * MIB, restart: false });
    expect(await reasons(ref, place({ hugepageBytes: 2 * MIB }))).toEqual([
      expect.stringMatching(/needs 1536 pages of 2Mi, and no node has more than 1024/),
    ]);
    await hardware().apply(ref, { kind: 'scale', memoryBytes: 1536 * MIB, restart: false });
    expect(await reasons(ref, place({ hugepageBytes: 1024 * MIB }))).toEqual([
      expect.stringMatching(/is not a multiple of the page size 1Gi/),
    ]);
  });

  test('refuses a VM that has the size of its instancetype', async () => {
    await open();
    const ref = await harness.givenVm('Stopped');
    edit(ref, (vm: { spec: Record<string, unknown> }) => (vm.spec['instancetype'] = { name: 'u1.small' }));
    expect(await reasons(ref, place({ hugepageBytes: 2 * MIB }))).toEqual([
      expect.stringMatching(/instancetype u1.small/),
    ]);
  });

  describe('with devices', () => {
    const attach = (device: string) => ({ kind: 'attach-host-device', device }) as const;
    const listed = async (name: string) =>
      (await harness.backend.require('hostResources').devices()).find((device) => device.name === name);

    test('that the KubeVirt resource permits, with their number and users', async () => {
      await open();
      expect(await harness.backend.require('hostResources').devices()).toMatchObject([
        { name: 'example.org/GRID_T4-1Q', isGpu: true, total: 0, refusal: 'No node offers example.org/GRID_T4-1Q.' },
        { name: 'example.org/absent', isGpu: false, refusal: "KubeVirt's feature gate HostDevices is off." },
        { name: 'example.org/gpu', isGpu: true, node: 'node-a', total: 2, usedBy: [], refusal: null },
        { name: 'example.org/nic', isGpu: false, total: 1, refusal: "KubeVirt's feature gate HostDevices is off." },
      ]);
    });

    test('as often as nodes have them, each under a name of its own', async () => {
      await open();
      const [one, two] = [await harness.givenVm('Stopped'), await harness.givenVm('Stopped')];
      for (let count = 0; count < 2; count++) await hardware().apply(one, attach('example.org/gpu'));
      expect(domainOf(one).devices['gpus']).toEqual([
        { name: 'gpu-1', deviceName: 'example.org/gpu' },
        { name: 'gpu-2', deviceName: 'example.org/gpu' },
      ]);
      expect(await listed('example.org/gpu')).toMatchObject({ refusal: expect.stringMatching(/^All 2 are used by/) });
      await expect(hardware().apply(two, attach('example.org/gpu'))).rejects.toMatchObject({ code: 'BUSY' });
      await hardware().apply(one, { kind: 'detach-host-device', name: 'gpu-1' });
      await hardware().apply(two, attach('example.org/gpu'));
      await hardware().apply(one, { kind: 'detach-host-device', name: 'gpu-2' });
      expect(domainOf(one).devices).not.toHaveProperty('gpus');
    });

    test('as host devices, with the feature gate', async () => {
      await open({ featureGates: ['HostDevices'] });
      const ref = await harness.givenVm('Stopped');
      await hardware().apply(ref, attach('example.org/nic'));
      expect(domainOf(ref).devices['hostDevices']).toEqual([{ name: 'nic-1', deviceName: 'example.org/nic' }]);
    });

    test('from the next start of a running VM on, which then does not migrate', async () => {
      await open();
      const ref = await harness.givenVm('Running');
      expect(await hardware().apply(ref, attach('example.org/gpu'))).toEqual({ effect: 'next-start' });
      expect((await hardware().read(ref)).pending).toEqual([
        { field: 'host device gpu-1', running: '', configured: 'example.org/gpu' },
      ]);
      await harness.backend.require('power').apply(ref, 'restart');
      await harness.recorder.untilVm(ref, (vm) => vm.status === 'Running' && vm.liveMigratable === false);
      const migration = harness.backend.require('migration').migrate(ref, undefined);
      await expect(migration).rejects.toThrow(/host device/);
    });
  });
});
