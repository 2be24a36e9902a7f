import type { Node, Pod } from '../../types/core-kinds.js';
import type { Affinity, Requirement } from './affinity.js';

function meets({ key, operator, values = [] }: Requirement, labels: Record<string, string>): boolean {
  const value = labels[key];
  switch (operator) {
    case 'In':
      return value !== undefined && values.includes(value);
    case 'NotIn':
      return value === undefined || !values.includes(value);
    case 'Exists':
      return value !== undefined;
    case 'DoesNotExist':
      return value === undefined;
    case 'Gt':
      return Number(value) > Number(values[0]);
    case 'Lt':
      return Number(value) < Number(values[0]);
    default:
      return false;
  }
}

/** Whether a pod's node selector and required node affinity allow a node. */
export function admitsNode({ spec }: Pod, { metadata }: Node): boolean {
  const labels = metadata.labels ?? {};
  if (Object.entries(spec.nodeSelector ?? {}).some(([key, value]) => labels[key] !== value)) return false;
  const terms = (spec.affinity as Affinity | undefined)?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution
    ?.nodeSelectorTerms;
  return (
    !terms?.length || terms.some(({ matchExpressions = [] }) => matchExpressions.every((each) => meets(each, labels)))
  );
}

/** The first taint that the pod does not tolerate. */
export function untoleratedTaint({ spec }: Pod, node: Node): { key: string; value?: string } | undefined {
  const tolerations = (spec.tolerations ?? []) as {
    key?: string;
    operator?: string;
    value?: string;
    effect?: string;
  }[];
  return node.spec?.taints?.find(
    (taint) =>
      taint.effect !== 'PreferNoSchedule' &&
      !tolerations.some(
        ({ key, operator, value, effect }) =>
          (key === undefined || key === taint.key) &&
          (effect === undefined || effect === taint.effect) &&
          (operator === 'Exists' || (value ?? '') === (taint.value ?? '')),
      ),
  );
}
