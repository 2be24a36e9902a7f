import type { HardwareChange, HostDevice, InstanceHardware, InstanceRef, Placement } from '@headgate/domain-contracts';
import { parseCpuSet } from '@headgate/domain-contracts';
import type { BackendHarness, ContractOptions, OpenHarness } from './backend-harness.js';
import { contractTests } from './contract-tests.js';
import type { HardwareContractOptions } from './instance-hardware.contract.js';

const MIB = 1024 ** 2;

/** The rules of every `InstanceHardware` for the placement of VMs on their hosts, and for devices of the hosts. */
export function instancePlacementContract(
  adapter: string,
  open: OpenHarness,
  { timeoutMs = 30_000, reservesCpus = true }: ContractOptions & Pick<HardwareContractOptions, 'reservesCpus'> = {},
): void {
  describe(`InstanceHardware with placement, ${adapter}`, () => {
    let harness: BackendHarness;
    let hardware: InstanceHardware;

    const { inTime } = contractTests(open, timeoutMs, (opened) => {
      ({ harness } = opened);
      hardware = harness.backend.require('hardware');
    });

    type Settings = Omit<Extract<HardwareChange, { kind: 'set-placement' }>, 'kind' | 'restart'>;
    const change = (settings: Settings, restart = false) => ({ kind: 'set-placement', restart, ...settings }) as const;
    const place = (ref: InstanceRef, settings: Settings) => hardware.apply(ref, change(settings));
    const placementOf = async (ref: InstanceRef): Promise<Placement> => (await hardware.read(ref)).placement;
    const refuses = async (ref: InstanceRef, wanted: HardwareChange, code: string): Promise<void> => {
      const before = await hardware.read(ref);
      const { refusals, steps } = await hardware.plan(ref, wanted);
      expect([wanted, refusals.map((one) => one.code)]).toEqual([wanted, expect.arrayContaining([code])]);
      expect(steps).toEqual([]);
      for (const { reason, remedy } of refusals) expect([reason, remedy]).not.toContain('');
      await expect(hardware.apply(ref, wanted)).rejects.toMatchObject({ code: refusals[0]?.code });
      expect(await hardware.read(ref)).toEqual(before);
    };
    const devices = () => harness.backend.require('hostResources').devices();
    const device = async (name: string): Promise<HostDevice | undefined> =>
      (await devices()).find((one) => one.name === name);

    inTime('shares the CPUs and the memory of the host at first', async () => {
      const { placement, hostDevices } = await hardware.read(await harness.givenVm('Stopped'));
      expect(placement.dedicated ?? placement.pinning).not.toBeNull();
      expect(placement.dedicated?.isOn ?? false).toBe(false);
      expect(placement.pinning ?? { vcpus: [], emulatorCpus: '', memory: null }).toMatchObject({
        vcpus: [],
        emulatorCpus: '',
        memory: null,
      });
      expect(placement.hugepageBytes).toBeNull();
      expect(hostDevices).toEqual([]);
    });

    inTime('places the CPUs in the way that the backend has, and refuses the other one', async () => {
      const vm = await harness.givenVm('Stopped');
      const { dedicated, pinning } = await placementOf(vm);
      if (dedicated && !reservesCpus) await refuses(vm, change({ dedicated: { isOn: true } }), 'WRONG_STATE');
      else if (dedicated) {
        expect(await place(vm, { dedicated: { isOn: true } })).toMatchObject({ effect: 'next-start' });
        expect(await placementOf(vm)).toMatchObject({ dedicated: { isOn: true } });
        await place(vm, { dedicated: { isolatesEmulator: true } });
        expect(await placementOf(vm)).toMatchObject({ dedicated: { isOn: true, isolatesEmulator: true } });
        await place(vm, { dedicated: { isOn: false, isolatesEmulator: false } });
        expect((await placementOf(vm)).dedicated).toEqual(dedicated);
      } else await refuses(vm, change({ dedicated: { isOn: true } }), 'NOT_SUPPORTED');
      if (!pinning) return refuses(vm, change({ pinning: { vcpus: [{ vcpu: 0, cpus: '0' }] } }), 'NOT_SUPPORTED');
      const [host] = await harness.backend.require('hostResources').topology();
      const cpus = String(parseCpuSet(host?.cpus ?? '', 'cpus')[0]);
      expect(await place(vm, { pinning: { vcpus: [{ vcpu: 0, cpus }] } })).toMatchObject({ effect: 'next-start' });
      await place(vm, { pinning: { emulatorCpus: cpus } });
      const memory = { mode: 'interleave', nodes: '0' };
      await place(vm, { pinning: { memory } });
      expect(await placementOf(vm)).toMatchObject({
        pinning: { vcpus: [{ vcpu: 0, cpus }], emulatorCpus: cpus, memory },
      });
      expect((await hardware.plan(vm, change({ pinning: { memory } }))).steps).toEqual([]);
      await place(vm, { pinning: { vcpus: [], emulatorCpus: '', memory: null } });
      expect((await placementOf(vm)).pinning).toEqual(pinning);
    });

    inTime('refuses CPUs, nodes and pages that do not exist', async () => {
      const vm = await harness.givenVm('Stopped');
      const { pinning } = await placementOf(vm);
      const pins = (cpus: string, vcpu = 0) => change({ pinning: { vcpus: [{ vcpu, cpus }] } });
      const code = pinning ? 'INVALID_INPUT' : 'NOT_SUPPORTED';
      for (const cpus of ['4095', '0-99999999999', '1-0', '^0', '\u0661', '', '0;1'])
        await refuses(vm, pins(cpus), code);
      for (const vcpu of [-1, 0.5, 100_000]) await refuses(vm, pins('0', vcpu), code);
      await refuses(vm, change({ pinning: { emulatorCpus: '4095' } }), code);
      await refuses(vm, change({ pinning: { memory: { mode: 'strict', nodes: '63' } } }), code);
      await refuses(vm, change({ pinning: { cells: [{ cpus: '0-600', memoryBytes: MIB }] } }), code);
      for (const hugepageBytes of [3 * MIB, 4096, 2 ** 50]) {
        await refuses(vm, change({ hugepageBytes }), 'INVALID_QUANTITY');
      }
    });

    inTime('backs the memory with reserved pages, or refuses it when there are too few', async () => {
      const vm = await harness.givenVm('Stopped');
      const { memoryBytes } = await hardware.read(vm);
      const hosts = await harness.backend.require('hostResources').topology();
      const pageBytes = 2 * MIB;
      const isReserved = hosts.some(({ hugepages }) =>
        hugepages.some((pool) => pool.pageBytes === pageBytes && pool.total >= memoryBytes / pageBytes),
      );
      if (!isReserved) return refuses(vm, change({ hugepageBytes: pageBytes }), 'WRONG_STATE');
      expect(await place(vm, { hugepageBytes: pageBytes })).toMatchObject({ effect: 'next-start' });
      expect((await placementOf(vm)).hugepageBytes).toBe(pageBytes);
      await place(vm, { hugepageBytes: null });
      expect((await placementOf(vm)).hugepageBytes).toBeNull();
    });

    inTime('changes a running VM immediately, or at its next start with the difference', async () => {
      const vm = await harness.givenVm('Running');
      const { pinning } = await placementOf(vm);
      const settings = pinning ? { pinning: { vcpus: [{ vcpu: 0, cpus: '0' }] } } : { dedicated: { isOn: true } };
      if (!pinning && !reservesCpus) return refuses(vm, change(settings), 'WRONG_STATE');
      const { effect, refusals } = await hardware.plan(vm, change(settings));
      expect([refusals, effect]).toEqual([[], pinning ? 'now' : 'next-start']);
      expect(await place(vm, settings)).toMatchObject({ effect });
      const { placement, pending } = await hardware.read(vm);
      expect(placement).toMatchObject(settings);
      expect(pending.length > 0).toBe(effect === 'next-start');
    });

    inTime('refuses a device that does not exist, and every device that it lists with a reason', async () => {
      const vm = await harness.givenVm('Stopped');
      for (const name of ['pci_ffff_00_00_0', 'example.org/nothing', '../../dev/sda', '']) {
        await refuses(vm, { kind: 'attach-host-device', device: name }, 'DEVICE_NOT_FOUND');
        await refuses(vm, { kind: 'detach-host-device', name }, 'DEVICE_NOT_FOUND');
      }
      for (const { name, refusal } of await devices()) {
        if (refusal === null) continue;
        const { refusals } = await hardware.plan(vm, { kind: 'attach-host-device', device: name });
        expect([name, refusals.map(({ reason }) => reason).join(' ')]).toEqual([
          name,
          expect.stringContaining(refusal),
        ]);
        await expect(hardware.apply(vm, { kind: 'attach-host-device', device: name })).rejects.toThrow(refusal);
      }
      expect((await hardware.read(vm)).hostDevices).toEqual([]);
    });

    inTime('passes a device through to one VM, and takes it back', async () => {
      const free = (await devices()).find(({ refusal, total }) => refusal === null && total === 1);
      if (!free) return;
      const [vm, other] = [await harness.givenVm('Stopped'), await harness.givenVm('Stopped')];
      const attach = { kind: 'attach-host-device', device: free.name } as const;
      expect(await hardware.plan(vm, attach)).toMatchObject({ effect: 'next-start', refusals: [] });
      await hardware.apply(vm, attach);
      const { hostDevices } = await hardware.read(vm);
      expect(hostDevices).toMatchObject([{ device: free.name, kind: free.kind }]);
      expect(await device(free.name)).toMatchObject({ usedBy: [`${vm.namespace}/${vm.name}`] });
      await refuses(other, attach, 'BUSY');
      const name = hostDevices[0]?.name ?? '';
      await refuses(other, { kind: 'detach-host-device', name }, 'DEVICE_NOT_FOUND');
      await hardware.apply(vm, { kind: 'detach-host-device', name });
      expect((await hardware.read(vm)).hostDevices).toEqual([]);
      expect(await device(free.name)).toMatchObject({ usedBy: [], refusal: null });
    });

    inTime('passes a device through once for two requests at the same time', async () => {
      const free = (await devices()).find(({ refusal, total }) => refusal === null && total === 1);
      if (!free) return;
      const vms = [await harness.givenVm('Stopped'), await harness.givenVm('Stopped')];
      const results = await Promise.allSettled(
        vms.map((vm) => hardware.apply(vm, { kind: 'attach-host-device', device: free.name })),
      );
      expect(results.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    });
  });
}
