import { formatRef, type Backend, type ClusterInventory } from '@headgate/domain-contracts';
import { InventoryRecorder } from '../inventory-recorder.js';
import type { BackendHarness, ContractOptions, OpenHarness } from './backend-harness.js';
import { contractTests } from './contract-tests.js';
import { createdVm } from './created-vm.js';

/** The rules for every `ClusterInventory`. */
export function clusterInventoryContract(
  adapter: string,
  open: OpenHarness,
  { timeoutMs = 30_000 }: ContractOptions = {},
): void {
  describe(`ClusterInventory, ${adapter}`, () => {
    let harness: BackendHarness;
    let cluster: ClusterInventory;
    let unreachable: Backend;
    const { inTime, afterTest } = contractTests(open, timeoutMs, async (opened) => {
      ({ harness } = opened);
      cluster = harness.backend.require('cluster');
      unreachable = await opened.unreachable();
    });

    inTime('lists each node once, with its version, architecture and capacity', async () => {
      const nodes = await cluster.nodes();
      const names = nodes.map(({ name }) => name);
      expect(names.length).toBeGreaterThan(0);
      expect([...new Set(names)].sort()).toEqual([...names].sort());
      for (const node of nodes) {
        expect(node).toEqual({
          name: expect.stringMatching(/./),
          ready: expect.any(Boolean),
          roles: expect.any(String),
          kubelet: expect.stringMatching(/./),
          arch: expect.stringMatching(/^[a-z0-9_]+$/),
          cpuMillicores: expect.any(Number),
          memoryBytes: expect.any(Number),
          allocatable: { cpuMillicores: expect.any(Number), memoryBytes: expect.any(Number) },
          zone: expect.any(String),
          unschedulable: expect.any(String),
        });
        expect(node.allocatable.memoryBytes).toBeLessThanOrEqual(node.memoryBytes!);
        expect(node.cpuMillicores).toBeGreaterThan(0);
        expect(node.memoryBytes).toBeGreaterThan(0);
      }
      expect(nodes.some(({ ready }) => ready)).toBe(true);
    });

    inTime('lists the node that a running VM is on', async () => {
      const ref = await harness.givenVm('Running');
      const recorder = InventoryRecorder.over(harness.backend.require('inventory'));
      afterTest(() => recorder.stop());
      await recorder.until(() => recorder.instance(ref)?.node !== undefined);
      const node = recorder.instance(ref)?.node;
      expect((await cluster.nodes()).map(({ name }) => name)).toContain(node);
    });

    inTime('reports the default storage class and what storage can do', async () => {
      expect(await cluster.storage()).toEqual({
        storageClass: expect.any(String),
        canExpand: expect.any(Boolean),
        canSnapshot: expect.any(Boolean),
      });
    });

    inTime('reports the space of disks whose free space is known, each once', async () => {
      const all = await cluster.storageSpace();
      for (const { storage, freeBytes, requiredBytes } of all) {
        expect(storage).not.toBe('');
        expect(freeBytes).toBeGreaterThan(0);
        expect(requiredBytes).toBeGreaterThan(0);
      }
      expect(new Set(all.map(({ storage }) => storage)).size).toBe(all.length);
    });

    inTime('lists instancetypes and preferences by name, each once', async () => {
      const { instancetypes, preferences, sizes } = await cluster.instancetypes();
      for (const names of [instancetypes, preferences]) {
        expect(new Set(names).size).toBe(names.length);
        expect(names.every((name) => name !== '')).toBe(true);
      }
      for (const { name, cpu, memoryBytes } of sizes) {
        expect(instancetypes).toContain(name);
        expect([Number.isInteger(cpu) && cpu > 0, memoryBytes > 0]).toEqual([true, true]);
      }
    });

    inTime('lists networks by namespace and name, each once', async () => {
      const networks = await cluster.networks();
      const names = networks.map(({ namespace, name }) => `${namespace}/${name}`);
      expect(names).toEqual([...new Set(names)].sort());
      for (const name of names) expect(name).toMatch(/^[^/]+\/.+$/);
    });

    inTime('lists each storage once, with the space that is known, the default among them', async () => {
      const all = await cluster.storages();
      expect(all.map(({ name }) => name)).toEqual([...new Set(all.map(({ name }) => name))].sort());
      const { storageClass } = await cluster.storage();
      // A pool that does not exist yet is not listed.
      for (const { name, isDefault } of all) expect([name, isDefault]).toEqual([name, name === storageClass]);
      for (const { type, capacityBytes, freeBytes, spaceUnknown, volumes } of all) {
        expect(type).not.toBe('');
        expect(freeBytes === null).toBe(spaceUnknown !== '');
        if (freeBytes !== null && capacityBytes !== null) expect(freeBytes).toBeLessThanOrEqual(capacityBytes);
        if (volumes !== null) expect(volumes).toBeGreaterThanOrEqual(0);
      }
    });

    inTime('lists the storage of a VM with a disk, and the VM as its user', async () => {
      const recorder = InventoryRecorder.over(harness.backend.require('inventory'));
      afterTest(() => recorder.stop());
      const ref = (await harness.givenVmWithDisk?.()) ?? (await createdVm(harness, recorder)).ref;
      const users = (await cluster.storages()).map((storage) => storage.users.map(formatRef));
      expect(users.flat()).toContain(formatRef(ref));
      for (const refs of users) expect(refs).toEqual([...new Set(refs)].sort());
    });

    inTime('lists the details of each network that cards can be attached to', async () => {
      const details = await cluster.networkDetails();
      const names = details.map(({ namespace, name }) => `${namespace}/${name}`);
      expect(names).toEqual([...new Set(names)].sort());
      const usable = (await cluster.networks()).map(({ namespace, name }) => `${namespace}/${name}`);
      const active = details.filter(({ isActive }) => isActive).map(({ namespace, name }) => `${namespace}/${name}`);
      expect(active).toEqual(usable);
      for (const { dhcp } of details) for (const { start, end } of dhcp) expect([start, end]).not.toContain('');
    });

    inTime('reports what would happen to a running VM when its node fails', async () => {
      const ref = await harness.givenVm('Running');
      const recorder = InventoryRecorder.over(harness.backend.require('inventory'));
      afterTest(() => recorder.stop());
      await recorder.until(() => recorder.instance(ref)?.node !== undefined);
      const { node = '' } = recorder.instance(ref) ?? {};
      const { cpusPerCpu, instances } = await cluster.failureOf(node);
      expect(cpusPerCpu).toBeGreaterThan(0);
      const affected = instances.find((one) => formatRef(one.ref) === formatRef(ref));
      expect(affected).toMatchObject({ cpu: expect.any(Number), memoryBytes: expect.any(Number) });
      expect(affected!.candidates).not.toContain(node);
      // One that stays down has a reason, and one that does not may have no node.
      if (affected!.staysDown !== '') expect(affected!.candidates).toEqual([]);
      const names = (await cluster.nodes()).map(({ name }) => name);
      for (const candidate of affected!.candidates) expect(names).toContain(candidate);
      await expect(cluster.failureOf('no-such-node')).rejects.toMatchObject({ code: 'NODE_NOT_FOUND' });
    });

    inTime('fails with BACKEND_UNREACHABLE when the engine does not answer', async () => {
      await expect(unreachable.require('cluster').nodes()).rejects.toMatchObject({ code: 'BACKEND_UNREACHABLE' });
      await expect(unreachable.require('cluster').storage()).rejects.toMatchObject({ code: 'BACKEND_UNREACHABLE' });
      await expect(unreachable.require('cluster').networks()).rejects.toMatchObject({ code: 'BACKEND_UNREACHABLE' });
      for (const read of ['storages', 'networkDetails'] as const)
        await expect(unreachable.require('cluster')[read]()).rejects.toMatchObject({ code: 'BACKEND_UNREACHABLE' });
      await expect(unreachable.require('cluster').failureOf('node')).rejects.toMatchObject({
        code: 'BACKEND_UNREACHABLE',
      });
    });
  });
}
