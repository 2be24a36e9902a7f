import { activeMigration, completeMigration, isFinished } from '../../admission/migration-admission.js';
import { evictionStrategyOf, isMigratable } from '../../eviction-strategy.js';
import { RESOURCES } from '../../resources.js';
import type { SimulationContext } from '../../simulation-context.js';
import type { Migration } from '../../types/kubevirt-kinds.js';
import type { VirtualMachineInstance } from '../../types/virtual-machine-instance.js';
import { Controller } from '../controller.js';

/** Migrates VMIs away from the node from which their launcher pod was to be evicted. */
export class EvacuationController extends Controller<VirtualMachineInstance> {
  constructor(context: SimulationContext) {
    super(context, RESOURCES.vmi, 'evacuation-controller');
  }

  protected override watchRelated(): void {
    this.watch<Migration>(RESOURCES.migration, ({ object, type }) => {
      if (type !== 'DELETED' && !isFinished(object)) return;
      this.enqueue({ namespace: object.metadata.namespace, name: object.spec.vmiName });
    });
  }

  protected override reconcile(vmi: VirtualMachineInstance): void {
    const { phase, nodeName, evacuationNodeName, migrationState } = vmi.status ?? {};
    if (!evacuationNodeName || evacuationNodeName !== nodeName || phase !== 'Running') return;
    if (vmi.metadata.deletionTimestamp || evictionStrategyOf(this.context, vmi) === 'External') return;
    if (!isMigratable(vmi) || activeMigration(this.context, vmi)) return;
    const { migrationUid, failed } = migrationState ?? {};
    // After a failed migration the next one waits for a while.
    if (failed && !this.took(vmi, `after ${migrationUid}`, 'crashLoopBase')) return;
    const migration: Migration = {
      apiVersion: 'kubevirt.io/v1',
      kind: 'VirtualMachineInstanceMigration',
      metadata: {
        name: '',
        generateName: 'kubevirt-evacuation-',
        namespace: vmi.metadata.namespace,
        annotations: { 'kubevirt.io/evacuationMigration': evacuationNodeName },
      },
      spec: { vmiName: vmi.metadata.name },
    };
    completeMigration(migration);
    const { metadata } = this.context.store.create(RESOURCES.migration, migration);
    this.recordEvent(vmi, 'SuccessfulCreate', `Created Migration ${metadata.name}`);
  }
}
