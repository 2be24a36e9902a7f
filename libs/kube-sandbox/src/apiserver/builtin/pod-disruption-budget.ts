import { fieldInvalid } from '../api-error.js';
import type { KubeObject } from '../kube-object.js';
import type { LabelSelectorObject } from '../label-selector.js';
import type { ResourceDefinition } from '../resource-definition.js';
import { anything, int64, integer, intOrString, object, oneOf } from '../schema/schema-builders.js';
import { builtIn } from './built-in.js';
import { ageColumn, column } from './column.js';
import { conditions, labelSelector } from './shared-schemas.js';

export interface PodDisruptionBudget extends KubeObject {
  spec?: {
    /** Absent: selects no pods; empty: selects all pods of the namespace. */
    selector?: LabelSelectorObject;
    minAvailable?: number | string;
    maxUnavailable?: number | string;
    unhealthyPodEvictionPolicy?: 'IfHealthyBudget' | 'AlwaysAllow';
  };
  status?: {
    observedGeneration?: number;
    disruptionsAllowed: number;
    currentHealthy: number;
    desiredHealthy: number;
    expectedPods: number;
    conditions?: object[];
  };
}

const NOT_APPLICABLE = 'N/A';

export const podDisruptionBudgets: ResourceDefinition = builtIn({
  group: 'policy',
  kind: 'PodDisruptionBudget',
  shortNames: ['pdb'],
  statusSubresource: true,
  schema: object(
    {
      spec: object({
        selector: labelSelector,
        minAvailable: intOrString('The number or percentage of pods that must stay available.'),
        maxUnavailable: intOrString('The number or percentage of pods that may be unavailable.'),
        unhealthyPodEvictionPolicy: oneOf(['IfHealthyBudget', 'AlwaysAllow']),
      }),
      status: object({
        observedGeneration: int64(),
        disruptionsAllowed: integer(),
        currentHealthy: integer(),
        desiredHealthy: integer(),
        expectedPods: integer(),
        disruptedPods: anything(),
        conditions,
      }),
    },
    [],
    'Limits the number of voluntary disruptions of a set of pods.',
  ),
  strategy: {
    validate: (budget) => {
      const { spec } = budget as PodDisruptionBudget;
      if (spec?.minAvailable === undefined || spec.maxUnavailable === undefined) return [];
      return [fieldInvalid('spec', spec, 'minAvailable and maxUnavailable cannot be both set')];
    },
  },
  columns: [
    column<PodDisruptionBudget>('Min Available', ({ spec }) => String(spec?.minAvailable ?? NOT_APPLICABLE)),
    column<PodDisruptionBudget>('Max Unavailable', ({ spec }) => String(spec?.maxUnavailable ?? NOT_APPLICABLE)),
    column<PodDisruptionBudget>('Allowed Disruptions', ({ status }) => status?.disruptionsAllowed ?? 0),
    ageColumn,
  ],
});
