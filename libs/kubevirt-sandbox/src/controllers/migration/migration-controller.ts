import { isFinished, MIGRATION_FINALIZER, VMI_NAME_LABEL } from '../../admission/migration-admission.js';
import { suffers } from '../../inherited-faults.js';
import { GIB, quantityValue } from '../../quantity.js';
import { RESOURCES } from '../../resources.js';
import { findCondition, setCondition } from '../../types/condition.js';
import type { Pod } from '../../types/core-kinds.js';
import type { Migration } from '../../types/kubevirt-kinds.js';
import type { MigrationState, VirtualMachineInstance } from '../../types/virtual-machine-instance.js';
import type { SimulationContext } from '../../simulation-context.js';
import { Controller } from '../controller.js';
import { isFinal } from '../../machines/printable-status.js';
import { beginState, handOver } from './hand-over.js';
import { copiedBytes } from './copied-bytes.js';
import { mayBegin } from './migration-limits.js';
import { findTargetPod, targetPod } from './target-pod.js';

/** Finished migrations kept per VMI. */
const KEPT = 5;
const HANDLER = { component: 'virt-handler' };

/** Moves running VMIs to another node, phase by phase. */
export class MigrationController extends Controller<Migration> {
  constructor(context: SimulationContext) {
    super(context, RESOURCES.migration, 'virtualmachine-controller');
  }

  protected override watchRelated(): void {
    this.watchFaults(({ namespace, name }) => {
      for (const { metadata } of this.of(namespace, name)) this.enqueue(metadata);
    });
    this.watch<Pod>(RESOURCES.pod, ({ object }) => {
      const uid = object.metadata.labels?.['kubevirt.io/migrationJobUID'];
      const migration = uid && this.context.store.findByUid<Migration>(uid)?.object;
      if (migration) this.enqueue(migration.metadata);
    });
    this.watch<VirtualMachineInstance>(RESOURCES.vmi, ({ object, previous }) => {
      if (previous?.status?.phase === object.status?.phase) return;
      const { namespace, name } = object.metadata;
      for (const { metadata } of this.of(namespace, name)) this.enqueue(metadata);
    });
  }

  protected override reconcile(migration: Migration): void {
    if (isFinished(migration)) return this.conclude(migration);
    const { namespace } = migration.metadata;
    const vmi = this.context.find<VirtualMachineInstance>(RESOURCES.vmi, namespace, migration.spec.vmiName);
    if (!vmi || isFinal(vmi)) return this.fail(migration, vmi, 'Migration failed because vmi does not exist.');
    if (migration.metadata.deletionTimestamp) return this.cancel(migration, vmi);
    const target = findTargetPod(this.context, migration, vmi);
    const phase = migration.status?.phase ?? '';
    if (!target && !['', 'Pending'].includes(phase)) {
      return this.fail(migration, vmi, 'Migration target pod was removed during active migration.');
    }
    switch (phase) {
      case '':
        return this.enter(migration, 'Pending');
      case 'Pending':
        return this.createTarget(migration, vmi, target);
      case 'Scheduling':
        return this.awaitTarget(migration, vmi, target!);
      case 'Scheduled':
        if (this.took(migration, 'prepare', 'migrationScheduled')) this.prepare(migration, vmi, target!);
        return;
      case 'PreparingTarget':
        if (this.took(migration, 'target ready', 'migrationTargetReady')) this.enter(migration, 'TargetReady');
        return;
      case 'TargetReady':
        return this.begin(migration, vmi, target!);
      case 'Running':
        return this.copy(migration, vmi, target!);
    }
  }

  private of(namespace: string | undefined, vmiName: string): Migration[] {
    return this.context.store.list<Migration>(RESOURCES.migration, {
      namespace,
      where: ({ spec }) => spec.vmiName === vmiName,
    });
  }

  private enter(migration: Migration, phase: string, state?: MigrationState): void {
    this.change(migration, (draft) => {
      const status = (draft.status ??= {});
      status.phase = phase;
      if (state) status.migrationState = state;
      const phaseTransitionTimestamp = this.context.clock.timestamp();
      status.phaseTransitionTimestamps = [
        ...(status.phaseTransitionTimestamps ?? []),
        { phase, phaseTransitionTimestamp },
      ];
    });
  }

  private createTarget(migration: Migration, vmi: VirtualMachineInstance, target: Pod | undefined): void {
    if (!this.took(migration, 'scheduling', 'migrationScheduling')) return;
    if (!target) {
      if (!mayBegin(this.context, vmi)) return this.enqueueAfter(migration, 1000);
      const pod = this.context.store.create<Pod>(RESOURCES.pod, targetPod(this.context, migration, vmi));
      this.recordEvent(migration, 'SuccessfulCreate', `Created migration target pod ${pod.metadata.name}`);
    }
    this.enter(migration, 'Scheduling');
  }

  private awaitTarget(migration: Migration, vmi: VirtualMachineInstance, target: Pod): void {
    const scheduled = findCondition(target.status?.conditions, 'PodScheduled');
    if (scheduled?.status === 'False') {
      const message = `Migration target pod for VMI [${migration.metadata.namespace}/${vmi.metadata.name}] is currently unschedulable.`;
      if (this.first(migration, 'report unschedulable')) {
        this.recordEvent(migration, 'migrationTargetPodUnschedulable', message, { warning: true });
      }
      if (!this.took(migration, 'unschedulable', 'migrationUnschedulableTimeout')) return;
      const { namespace, name } = target.metadata;
      const reason = `unschedulable pod ${namespace}/${name} timeout period exceeded`;
      this.recordEvent(migration, 'SuccessfulDelete', reason);
      // Its removal ends the migration.
      return this.context.discard(RESOURCES.pod, target.metadata, 0);
    }
    if (target.status?.phase !== 'Running') return;
    this.enter(migration, 'Scheduled');
  }

  private prepare(migration: Migration, vmi: VirtualMachineInstance, target: Pod): void {
    const { nodeName } = target.spec;
    this.recordEvent(migration, 'SuccessfulHandOver', 'Migration target pod is ready for preparation by virt-handler.');
    this.recordEvent(
      vmi,
      'PreparingTarget',
      `VirtualMachineInstance Migration Target Prepared. ${nodeName ?? ''}`.trim(),
      HANDLER,
    );
    this.enter(migration, 'PreparingTarget');
  }

  private begin(migration: Migration, vmi: VirtualMachineInstance, target: Pod): void {
    const state = beginState(this.context, vmi, migration.metadata.uid!, target);
    this.context.store.patch<VirtualMachineInstance>(RESOURCES.vmi, vmi.metadata, ({ status }) => {
      status!.migrationState = state;
    });
    this.recordEvent(vmi, 'Migrating', 'VirtualMachineInstance is migrating.', HANDLER);
    this.enter(migration, 'Running');
  }

  private copy(migration: Migration, vmi: VirtualMachineInstance, target: Pod): void {
    const { timings } = this.context;
    if (suffers(this.context, 'migration-stuck', vmi)) return;
    const gib = (quantityValue(vmi.spec.domain.memory?.guest ?? '1Gi') + copiedBytes(this.context, vmi)) / GIB;
    if (!this.took(migration, 'copy', Math.max(1, gib) * timings.ms('migrationPerGiB'))) return;
    if (suffers(this.context, 'migration-failure', vmi))
      return this.fail(migration, vmi, 'source node reported migration failed');
    this.succeed(migration, vmi, target);
  }

  private succeed(migration: Migration, vmi: VirtualMachineInstance, target: Pod): void {
    const sources = this.context.store
      .ownedBy<Pod>(RESOURCES.pod, vmi.metadata.uid!)
      .filter(({ metadata }) => metadata.uid !== target.metadata.uid);
    const moved = this.context.store.patch<VirtualMachineInstance>(RESOURCES.vmi, vmi.metadata, (draft) =>
      handOver(this.context, draft, target),
    );
    for (const { metadata } of sources) this.context.discard(RESOURCES.pod, metadata, 0);
    this.recordEvent(vmi, 'Migrated', `The VirtualMachineInstance migrated to node ${target.spec.nodeName}.`, HANDLER);
    this.recordEvent(migration, 'SuccessfulMigration', 'Source node reported migration succeeded');
    this.enter(migration, 'Succeeded', moved.status?.migrationState);
  }

  private cancel(migration: Migration, vmi: VirtualMachineInstance): void {
    const requested = { type: 'migrationAbortRequested', status: 'True' } as const;
    const canceled = this.change(migration, (draft) =>
      setCondition(((draft.status ??= {}).conditions ??= []), requested, this.context.clock.timestamp()),
    );
    this.fail(canceled, vmi, 'Migration failed due to being canceled', {
      abortRequested: true,
      abortStatus: 'Succeeded',
    });
  }

  /** Before the hand-over to the nodes, KubeVirt records the reason in an event only. */
  private fail(
    migration: Migration,
    vmi: VirtualMachineInstance | undefined,
    reason: string,
    extra: MigrationState = {},
  ): void {
    const endTimestamp = this.context.clock.timestamp();
    const ours = vmi?.status?.migrationState?.migrationUid === migration.metadata.uid;
    const outcome = { ...extra, completed: true, failed: true, failureReason: reason, endTimestamp };
    if (vmi && ours) {
      this.context.store.patch<VirtualMachineInstance>(RESOURCES.vmi, vmi.metadata, ({ status }) => {
        status!.migrationState = { ...status!.migrationState, ...outcome };
      });
    }
    const target = vmi && findTargetPod(this.context, migration, vmi);
    if (target) this.context.discard(RESOURCES.pod, target.metadata, 0);
    this.recordEvent(migration, 'FailedMigration', reason, { warning: true });
    this.enter(migration, 'Failed', ours ? { ...vmi!.status!.migrationState, ...outcome } : undefined);
  }

  /** Releases a finished migration, and keeps only the newest ones of a VMI. */
  private conclude(migration: Migration): void {
    if (migration.metadata.finalizers?.includes(MIGRATION_FINALIZER)) {
      this.change(migration, ({ metadata }) => {
        metadata.finalizers = metadata.finalizers?.filter((finalizer) => finalizer !== MIGRATION_FINALIZER);
      });
    }
    const { namespace, labels } = migration.metadata;
    const finished = this.of(namespace, labels?.[VMI_NAME_LABEL] ?? migration.spec.vmiName).filter(isFinished);
    const oldestFirst = finished.sort(
      (a, b) => Number(a.metadata.resourceVersion) - Number(b.metadata.resourceVersion),
    );
    for (const { metadata } of oldestFirst.slice(0, -KEPT)) this.context.discard(RESOURCES.migration, metadata);
  }
}
