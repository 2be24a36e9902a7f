import { BUDGETS, isHealthy, selectsPod, type BudgetedPod } from '../builtin/budgeted-pods.js';
import type { PodDisruptionBudget } from '../builtin/pod-disruption-budget.js';
import type { SandboxClock } from '../clock.js';
import type { ObjectStore } from '../object-store.js';
import type { StoreEvent } from '../store/store-event.js';

/** Keeps the status of pod disruption budgets up to date, synchronously with the change that affects it. */
export class DisruptionController {
  private stopPods: (() => void) | undefined;

  constructor(
    private readonly store: ObjectStore,
    private readonly clock: SandboxClock,
  ) {}

  /** @returns a function that stops it */
  start(): () => void {
    const stop = this.store.subscribe(BUDGETS, ({ type, object }) => {
      this.watchPods();
      if (type !== 'DELETED') this.update(object as PodDisruptionBudget);
    });
    this.watchPods();
    return () => {
      stop();
      this.stopPods?.();
    };
  }

  /** Without budgets, changes of pods don't matter. */
  private watchPods(): void {
    const needed = this.store.count(BUDGETS) > 0;
    if (needed) this.stopPods ??= this.store.subscribe('pods', (event) => this.react(event));
    else {
      this.stopPods?.();
      this.stopPods = undefined;
    }
  }

  private react({ object, previous }: StoreEvent): void {
    if (this.store.count(BUDGETS, object.metadata.namespace) === 0) return;
    for (const budget of this.store.list<PodDisruptionBudget>(BUDGETS, { namespace: object.metadata.namespace })) {
      if (selectsPod(budget, object) || (previous && selectsPod(budget, previous))) this.update(budget);
    }
  }

  private update(budget: PodDisruptionBudget): void {
    if (!this.store.get(BUDGETS, budget.metadata)) return;
    const pods = this.store
      .list<BudgetedPod>('pods', { namespace: budget.metadata.namespace, where: (pod) => selectsPod(budget, pod) })
      .filter(({ status }) => !['Succeeded', 'Failed'].includes(status?.phase ?? ''));
    const expectedPods = pods.length;
    const currentHealthy = pods.filter(isHealthy).length;
    const desiredHealthy = desiredOf(budget, expectedPods);
    const disruptionsAllowed = expectedPods === 0 ? 0 : Math.max(0, currentHealthy - desiredHealthy);
    const allowed = disruptionsAllowed > 0;
    this.store.patch<PodDisruptionBudget>(BUDGETS, budget.metadata, (draft) => {
      const { generation } = draft.metadata;
      const known = (draft.status?.conditions?.[0] ?? {}) as { status?: string; lastTransitionTime?: string };
      const status = allowed ? 'True' : 'False';
      draft.status = {
        observedGeneration: generation,
        disruptionsAllowed,
        currentHealthy,
        desiredHealthy,
        expectedPods,
        conditions: [
          {
            type: 'DisruptionAllowed',
            status,
            reason: allowed ? 'SufficientPods' : 'InsufficientPods',
            message: '',
            observedGeneration: generation,
            lastTransitionTime: known.status === status ? known.lastTransitionTime : this.clock.timestamp(),
          },
        ],
      };
    });
  }
}

/** The pods that must stay healthy. A real server takes the expected number from the pods' controllers. */
function desiredOf({ spec }: PodDisruptionBudget, expectedPods: number): number {
  if (spec?.minAvailable !== undefined) return scaled(spec.minAvailable, expectedPods);
  return Math.max(0, expectedPods - scaled(spec?.maxUnavailable ?? 1, expectedPods));
}

const scaled = (value: number | string, total: number): number =>
  typeof value === 'string' && value.endsWith('%') ? Math.ceil((parseInt(value, 10) * total) / 100) : Number(value);
