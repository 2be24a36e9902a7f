import { isCpuSet, isHostDeviceName, type Backend, type HostResources } from '@headgate/domain-contracts';
import type { BackendHarness, ContractOptions, OpenHarness } from './backend-harness.js';
import { contractTests } from './contract-tests.js';

/** The rules for every `HostResources`. */
export function hostResourcesContract(
  adapter: string,
  open: OpenHarness,
  { timeoutMs = 30_000 }: ContractOptions = {},
): void {
  describe(`HostResources, ${adapter}`, () => {
    let harness: BackendHarness;
    let resources: HostResources;
    let unreachable: Backend;

    const { inTime } = contractTests(open, timeoutMs, async (opened) => {
      ({ harness } = opened);
      resources = harness.backend.require('hostResources');
      unreachable = await opened.unreachable();
    });

    inTime('reports the CPUs and the pages of every node', async () => {
      const hosts = await resources.topology();
      const nodes = await harness.backend.require('cluster').nodes();
      expect(hosts.map(({ node }) => node).sort()).toEqual(nodes.map(({ name }) => name).sort());
      for (const { cpus, offlineCpus, numaNodes, hugepages } of hosts) {
        for (const list of [cpus, offlineCpus]) expect(list === '' || isCpuSet(list)).toBe(true);
        for (const { total, free, pageBytes } of [...hugepages, ...numaNodes.flatMap((node) => node.hugepages)]) {
          expect(Number.isInteger(Math.log2(pageBytes))).toBe(true);
          expect(total).toBeGreaterThanOrEqual(free ?? 0);
        }
      }
    });

    inTime('names every device once on its node, with a reason for each that can not be attached', async () => {
      const devices = await resources.devices();
      const names = devices.map(({ node, name }) => `${node} ${name}`);
      expect(new Set(names).size).toBe(names.length);
      for (const { name, refusal, total } of devices) {
        expect([name, isHostDeviceName(name)]).toEqual([name, true]);
        expect(refusal).not.toBe('');
        expect(total).toBeGreaterThanOrEqual(0);
      }
    });

    inTime('reports a backend that does not answer', async () => {
      const code = expect.stringMatching(/^BACKEND_(UNREACHABLE|TIMEOUT)$/);
      const away = unreachable.require('hostResources');
      await expect(away.topology()).rejects.toMatchObject({ code });
      await expect(away.devices()).rejects.toMatchObject({ code });
    });
  });
}
