import { activeMigration, completeMigration, isFinished } from '../../admission/migration-admission.js';
import { RESOURCES } from '../../resources.js';
import { findCondition, isTrue } from '../../types/condition.js';
import type { Migration } from '../../types/kubevirt-kinds.js';
import type { VirtualMachineInstance } from '../../types/virtual-machine-instance.js';
import type { SimulationContext } from '../../simulation-context.js';
import { Controller } from '../controller.js';
import { isVolumeMigrating } from '../../machines/volume-migration.js';

const REASONS = ['HotVCPUChange', 'HotMemoryChange', 'MigrationRequired', 'VolumesChange'];
const AUTOMATIC = 'kubevirt.io/workloadUpdateMigration';
const VOLUME_UPDATE = 'kubevirt.io/volume-update-in-progress';
const MAX_LABEL_LENGTH = 63;

/** Labels are limited in length. */
const labelOf = ({ metadata }: VirtualMachineInstance): string =>
  metadata.name.length > MAX_LABEL_LENGTH ? metadata.uid! : metadata.name;

/** Completes changes of running VMIs by a migration, if the KubeVirt resource allows it. */
export class WorkloadUpdater extends Controller<VirtualMachineInstance> {
  constructor(context: SimulationContext) {
    super(context, RESOURCES.vmi, 'workload-update-controller');
  }

  protected override watchRelated(): void {
    this.watch(RESOURCES.kubevirt, () => this.resync());
    this.watch<Migration>(RESOURCES.migration, ({ object, type }) => {
      if (type !== 'DELETED' && !isFinished(object)) return;
      this.enqueue({ namespace: object.metadata.namespace, name: object.spec.vmiName });
    });
  }

  protected override reconcile(vmi: VirtualMachineInstance): void {
    const { phase, conditions } = vmi.status ?? {};
    if (phase !== 'Running') return;
    if (!REASONS.some((type) => isTrue(conditions, type))) return this.abort(vmi);
    const methods = this.context.kubevirt?.spec.workloadUpdateStrategy?.workloadUpdateMethods ?? [];
    if (!methods.includes('LiveMigrate') || !isTrue(conditions, 'LiveMigratable')) return;
    if (activeMigration(this.context, vmi)) return;
    const { migrationUid, failed } = vmi.status?.migrationState ?? {};
    // After a failed migration the next one waits for a while.
    if (failed && !this.took(vmi, `after ${migrationUid}`, 'crashLoopBase')) return;
    const migration: Migration = {
      apiVersion: 'kubevirt.io/v1',
      kind: 'VirtualMachineInstanceMigration',
      metadata: {
        name: '',
        generateName: 'kubevirt-workload-update-',
        namespace: vmi.metadata.namespace,
        annotations: { [AUTOMATIC]: '' },
        ...(isVolumeMigrating(vmi) ? { labels: { [VOLUME_UPDATE]: labelOf(vmi) } } : {}),
      },
      spec: { vmiName: vmi.metadata.name },
    };
    completeMigration(migration);
    this.context.store.create(RESOURCES.migration, migration);
  }

  /** Cancels a migration that was created for a change that is no longer wanted. */
  private abort(vmi: VirtualMachineInstance): void {
    if (findCondition(vmi.status?.conditions, 'HotVCPUChange')) return;
    const migration = activeMigration(this.context, vmi);
    if (migration?.metadata.annotations?.[AUTOMATIC] === undefined || migration.metadata.deletionTimestamp) return;
    this.context.discard(RESOURCES.migration, migration.metadata);
    this.recordEvent(vmi, 'SuccessfulChangeAbortion', `Aborted change for vmi: ${vmi.metadata.name}`);
  }
}
