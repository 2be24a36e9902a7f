import { setImmediate } from 'node:timers/promises';
import {
  formatRef,
  type Backend,
  type InstanceReading,
  type InstanceRef,
  type NodeReading,
  type ResourceMetrics,
} from '@headgate/domain-contracts';
import type { InventoryRecorder } from '../inventory-recorder.js';
import type { BackendHarness, ContractOptions, OpenHarness } from './backend-harness.js';
import { contractTests } from './contract-tests.js';

const COUNTERS = [
  'cpuTimeMs',
  'diskReadBytes',
  'diskWrittenBytes',
  'networkReceivedBytes',
  'networkTransmittedBytes',
] as const;

/** The rules for every `ResourceMetrics`. */
export function resourceMetricsContract(
  adapter: string,
  open: OpenHarness,
  { timeoutMs = 30_000 }: ContractOptions = {},
): void {
  describe(`ResourceMetrics, ${adapter}`, () => {
    let harness: BackendHarness;
    let metrics: ResourceMetrics;
    let recorder: InventoryRecorder;
    let unreachable: Backend;
    const { inTime } = contractTests(open, timeoutMs, async (opened) => {
      ({ harness } = opened);
      metrics = harness.backend.require('metrics');
      recorder = await opened.recorder();
      unreachable = await opened.unreachable();
    });

    const givenRunning = async (): Promise<InstanceRef> => {
      const ref = await harness.givenVm('Running');
      // A cluster has the status and the guest that is measured in two objects, and reports the second one later.
      await recorder.until(() => recorder.stateOf(ref) === 'Running' && recorder.instance(ref)?.node !== undefined);
      await harness.untilMeasured?.(ref);
      return ref;
    };
    const readInstances = async (): Promise<Map<string, InstanceReading>> => {
      const { instances } = await metrics.read();
      const byInstanceUid = new Map(instances.map((reading) => [formatRef(reading.ref), reading]));
      expect(byInstanceUid.size).toBe(instances.length);
      return byInstanceUid;
    };
    /** Reads again while one of the guests is busy with a job of the backend, whose memory is then unknown. */
    const completeReadings = async (refs: readonly InstanceRef[]): Promise<Map<string, InstanceReading>> => {
      for (;;) {
        const readings = await readInstances();
        if (refs.every((ref) => readings.get(formatRef(ref))?.memoryUsedBytes !== null)) return readings;
        await setImmediate();
      }
    };

    inTime('measures the CPU and the memory of each running VM once', async () => {
      const refs = [await givenRunning(), await givenRunning()];
      const readings = await completeReadings(refs);
      for (const ref of refs) {
        const reading = readings.get(formatRef(ref));
        expect(reading).toBeDefined();
        expectUse(reading!);
        expect(reading!.memoryUsedBytes).toBeGreaterThan(0);
        if (reading!.memoryTotalBytes !== null) expect(reading!.memoryTotalBytes).toBeGreaterThan(0);
        for (const name of COUNTERS) expectAmount(reading![name]);
      }
    });

    inTime('never counts backward while a guest runs', async () => {
      const ref = formatRef(await givenRunning());
      const before = (await readInstances()).get(ref)!;
      const after = (await readInstances()).get(ref)!;
      // A reading of a guest that is busy with a job of the backend leaves some counters out.
      const counted = COUNTERS.filter((name) => before[name] !== null);
      const known = counted.filter((name) => after[name] !== null);
      expect(known.length).toBeGreaterThanOrEqual(Math.min(1, counted.length));
      for (const name of known) expect(after[name]).toBeGreaterThanOrEqual(before[name]!);
    });

    inTime('leaves out VMs that are stopped or deleted', async () => {
      const stopped = await harness.givenVm('Stopped');
      const deleted = await givenRunning();
      await harness.deleteExternally(deleted);
      await recorder.until(() => recorder.instance(deleted) === undefined);
      const readings = await readInstances();
      expect(readings.has(formatRef(stopped))).toBe(false);
      expect(readings.has(formatRef(deleted))).toBe(false);
    });

    inTime('measures each node under the name that the inventory of the cluster has for it', async () => {
      const { nodes } = await metrics.read();
      const listed = await harness.backend.require('cluster').nodes();
      expect(nodes.map(({ name }) => name).sort()).toEqual(listed.map(({ name }) => name).sort());
      for (const node of nodes) {
        expectUse(node);
        expect(node.memoryUsedBytes).toBeGreaterThan(0);
      }
    });

    inTime('reports a backend that does not answer', async () => {
      await expect(unreachable.require('metrics').read()).rejects.toMatchObject({
        code: expect.stringMatching(/^BACKEND_(UNREACHABLE|TIMEOUT)$/),
      });
    });
  });
}

/** A counter of CPU time or a current rate, but not both. */
function expectUse({ cpuTimeMs, cpuMillicores }: InstanceReading | NodeReading): void {
  expect([cpuTimeMs, cpuMillicores].filter((value) => value !== null)).toHaveLength(1);
  expectAmount(cpuTimeMs);
  expectAmount(cpuMillicores);
}

function expectAmount(value: number | null): void {
  if (value === null) return;
  expect(Number.isFinite(value)).toBe(true);
  expect(value).toBeGreaterThanOrEqual(0);
}
