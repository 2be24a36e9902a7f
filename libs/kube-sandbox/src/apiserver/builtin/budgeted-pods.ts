import type { KubeObject } from '../kube-object.js';
import { labelSelectorOf } from '../label-selector.js';
import type { PodDisruptionBudget } from './pod-disruption-budget.js';

export const BUDGETS = 'poddisruptionbudgets.policy';

export interface BudgetedPod extends KubeObject {
  status?: { phase?: string; conditions?: { type: string; status: string }[] };
}

/** Whether a pod counts as available for a budget. */
export const isHealthy = ({ metadata, status }: BudgetedPod): boolean =>
  metadata.deletionTimestamp === undefined &&
  status?.conditions?.some(({ type, status: value }) => type === 'Ready' && value === 'True') === true;

/** Whether a budget selects a pod. */
export const selectsPod = ({ metadata, spec }: PodDisruptionBudget, pod: KubeObject): boolean =>
  spec?.selector !== undefined &&
  metadata.namespace === pod.metadata.namespace &&
  labelSelectorOf(spec.selector)(pod.metadata.labels);
