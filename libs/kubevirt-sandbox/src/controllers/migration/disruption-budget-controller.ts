import type { PodDisruptionBudget } from '@headgate/kube-sandbox';
import { isFinished } from '../../admission/migration-admission.js';
import { isProtected } from '../../eviction-strategy.js';
import { RESOURCES } from '../../resources.js';
import { controlledBy, type SimulationContext } from '../../simulation-context.js';
import type { Migration } from '../../types/kubevirt-kinds.js';
import type { VirtualMachineInstance } from '../../types/virtual-machine-instance.js';
import { Controller } from '../controller.js';
import { isFinal } from '../../machines/printable-status.js';

const CREATED_BY = 'kubevirt.io/created-by';

/** Protects the launcher pods of VMIs that are to be migrated on eviction, in case the webhook is down. */
export class DisruptionBudgetController extends Controller<VirtualMachineInstance> {
  constructor(context: SimulationContext) {
    super(context, RESOURCES.vmi, 'disruptionbudget-controller');
  }

  protected override watchRelated(): void {
    this.watchOwned(RESOURCES.disruptionBudget, 'VirtualMachineInstance');
    this.watch(RESOURCES.kubevirt, () => this.resync());
    this.watch<Migration>(RESOURCES.migration, ({ object }) =>
      this.enqueue({ namespace: object.metadata.namespace, name: object.spec.vmiName }),
    );
  }

  protected override reconcile(vmi: VirtualMachineInstance): void {
    const [budget, ...others] = this.context.store.ownedBy<PodDisruptionBudget>(
      RESOURCES.disruptionBudget,
      vmi.metadata.uid!,
    );
    const wanted = !isFinal(vmi) && vmi.status?.phase !== undefined && isProtected(this.context, vmi);
    for (const { metadata } of wanted ? others : [budget, ...others].filter((each) => each !== undefined)) {
      this.context.discard(RESOURCES.disruptionBudget, metadata);
    }
    if (!wanted) return;
    const minAvailable = this.isMigrating(vmi) ? 2 : 1;
    if (!budget) return this.createBudget(vmi, minAvailable);
    this.context.store.patch<PodDisruptionBudget>(RESOURCES.disruptionBudget, budget.metadata, ({ spec }) => {
      spec!.minAvailable = minAvailable;
    });
  }

  /** While a VMI migrates, its target pod is protected as well. */
  private isMigrating({ metadata }: VirtualMachineInstance): boolean {
    const migrations = this.context.store.list<Migration>(RESOURCES.migration, {
      namespace: metadata.namespace,
      where: ({ spec, status }) => spec.vmiName === metadata.name && !['', 'Pending'].includes(status?.phase ?? ''),
    });
    return migrations.some((migration) => !isFinished(migration));
  }

  private createBudget(vmi: VirtualMachineInstance, minAvailable: number): void {
    const { metadata } = this.context.store.create<PodDisruptionBudget>(RESOURCES.disruptionBudget, {
      apiVersion: 'policy/v1',
      kind: 'PodDisruptionBudget',
      metadata: {
        name: '',
        generateName: 'kubevirt-disruption-budget-',
        namespace: vmi.metadata.namespace,
        ownerReferences: [controlledBy(vmi)],
      },
      spec: { minAvailable, selector: { matchLabels: { [CREATED_BY]: vmi.metadata.uid! } } },
    });
    this.recordEvent(vmi, 'SuccessfulCreate', `Created PodDisruptionBudget ${metadata.name}`);
  }
}
