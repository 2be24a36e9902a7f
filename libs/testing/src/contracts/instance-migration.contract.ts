import type { ClusterNode, InstanceMigration, InstanceRef } from '@headgate/domain-contracts';
import type { InventoryRecorder } from '../inventory-recorder.js';
import { missingRef, type BackendHarness, type ContractOptions, type OpenHarness } from './backend-harness.js';
import { contractTests } from './contract-tests.js';
import { carryOn, freshKey } from './interrupted.js';
import { recordingReporter } from './recording-reporter.js';

export interface MigrationContractOptions extends ContractOptions {
  /** Whether the engine lets its user choose the node. Where it does not, a given node is refused. Default: true. */
  readonly canChooseNode?: boolean;
}

/** The rules for every `InstanceMigration`. The engine needs two nodes that are ready. */
export function instanceMigrationContract(
  adapter: string,
  open: OpenHarness,
  { timeoutMs = 30_000, canChooseNode = true }: MigrationContractOptions = {},
): void {
  describe(`InstanceMigration, ${adapter}`, () => {
    let harness: BackendHarness;
    let migration: InstanceMigration;
    let recorder: InventoryRecorder;
    let nodes: readonly ClusterNode[];
    const { inTime } = contractTests(open, timeoutMs, async (opened) => {
      ({ harness } = opened);
      migration = harness.backend.require('migration');
      nodes = await harness.backend.require('cluster').nodes();
      recorder = await opened.recorder();
    });

    const runningVm = async (): Promise<{ ref: InstanceRef; source: string; uid: string }> => {
      const ref = await harness.givenVm('Running', { booted: true });
      const vm = await recorder.untilVm(ref, ({ node, ready, status }) => status === 'Running' && ready && !!node);
      return { ref, source: vm.node ?? '', uid: vm.uid };
    };
    const otherNode = (source: string): string => {
      const other = nodes.find(({ name, ready }) => ready && name !== source);
      if (!other) throw new Error('The engine under test needs a second node that is ready.');
      return other.name;
    };

    if (canChooseNode) {
      inTime('moves a running VM to the given node, and the VM keeps its identity', async () => {
        const { ref, source, uid } = await runningVm();
        const target = otherNode(source);
        const report = recordingReporter();
        await (
          await migration.migrate(ref, target)
        )(report);
        const vm = await recorder.untilVm(ref, ({ node, status }) => node === target && status === 'Running');
        expect(vm.uid).toBe(uid);
      });

      inTime('refuses a node that does not exist, and the VM stays where it is', async () => {
        const { ref, source } = await runningVm();
        await expect(migration.migrate(ref, 'no-such-node')).rejects.toMatchObject({ code: 'NODE_NOT_FOUND' });
        expect(recorder.vm(ref)?.node).toBe(source);
      });
    } else {
      inTime('refuses to choose the node, and the VM stays where it is', async () => {
        const { ref, source } = await runningVm();
        await expect(migration.migrate(ref, otherNode(source))).rejects.toMatchObject({ code: 'NOT_SUPPORTED' });
        expect(recorder.vm(ref)?.node).toBe(source);
      });
    }

    inTime('chooses a node when none is given, and reports steps and progress', async () => {
      const { ref, source } = await runningVm();
      const report = recordingReporter();
      await (
        await migration.migrate(ref)
      )(report);
      const vm = await recorder.untilVm(ref, ({ node, status }) => node !== source && status === 'Running');
      expect(nodes.map(({ name }) => name)).toContain(vm.node);
      expect(report.steps.length).toBeGreaterThan(0);
      for (const fraction of report.fractions) {
        expect(fraction).toBeGreaterThanOrEqual(0);
        expect(fraction).toBeLessThanOrEqual(1);
      }
    });

    inTime('plans a migration without starting it, and refuses in the plan what it refuses in the run', async () => {
      const { ref, source } = await runningVm();
      const plan = await migration.plan(ref);
      expect(plan.steps.length).toBeGreaterThan(0);
      expect(plan.refusals).toEqual([]);
      const missingNode = await migration.plan(ref, 'no-such-node');
      expect(missingNode.refusals.map(({ code }) => code)).toEqual([
        canChooseNode ? 'NODE_NOT_FOUND' : 'NOT_SUPPORTED',
      ]);
      expect(recorder.vm(ref)).toMatchObject({ node: source, status: 'Running' });
      const stopped = await harness.givenVm('Stopped');
      expect((await migration.plan(stopped)).refusals.map(({ code }) => code)).toEqual(['WRONG_STATE']);
      await expect(migration.plan(missingRef(harness))).rejects.toMatchObject({ code: 'INSTANCE_NOT_FOUND' });
    });

    inTime('leaves the VM running when the migration is canceled', async () => {
      const { ref } = await runningVm();
      const work = await migration.migrate(ref);
      await work(recordingReporter(AbortSignal.abort(new Error('canceled')))).catch(() => undefined);
      const vm = await recorder.untilVm(ref, ({ status }) => status === 'Running');
      expect(vm.ready).toBe(true);
    });

    inTime('finds a migration again by its key, and follows it to its end', async () => {
      const { ref, source } = await runningVm();
      const key = freshKey({ wasRunning: true, node: source });
      const migrating = {
        begin: () => migration.migrate(ref, undefined, key),
        stateOf: () => migration.stateOf(ref, key),
        resume: () => migration.resume(ref, key),
      };
      expect((await migrating.stateOf()).state).toBe('absent');
      await migrating.begin();
      await carryOn(migrating);
      const vm = await recorder.untilVm(ref, ({ node, status }) => node !== source && status === 'Running');
      expect(await carryOn(migrating)).toBe('done');
      await migration.discard(ref, key);
      await migration.discard(ref, freshKey({ wasRunning: true, node: vm.node ?? '' }));
      const other = await migration.stateOf(ref, freshKey({ wasRunning: true, node: vm.node ?? '' }));
      expect(other.state).toBe('absent');
      expect(recorder.vm(ref)).toMatchObject({ node: vm.node, status: 'Running', uid: vm.uid });
    });

    inTime('refuses to migrate a stopped VM', async () => {
      const ref = await harness.givenVm('Stopped');
      await expect(migration.migrate(ref)).rejects.toMatchObject({ code: 'WRONG_STATE' });
    });

    inTime('refuses to migrate a VM that does not exist', async () => {
      await expect(migration.migrate(missingRef(harness))).rejects.toMatchObject({ code: 'INSTANCE_NOT_FOUND' });
    });
  });
}
