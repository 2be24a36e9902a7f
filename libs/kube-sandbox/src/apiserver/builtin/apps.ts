import { fieldInvalid, type StatusCause } from '../api-error.js';
import { deepEqual } from '../deep-copy.js';
import type { KubeObject } from '../kube-object.js';
import type { ResourceDefinition } from '../resource-definition.js';
import { anything, boolean, int64, integer, object, withDefault } from '../schema/schema-builders.js';
import { builtIn } from './built-in.js';
import { ageColumn, column, NONE } from './column.js';
import { podTemplate } from './pod-schema.js';
import { conditions, labelSelector } from './shared-schemas.js';

interface Workload extends KubeObject {
  spec?: { replicas?: number };
  status?: { replicas?: number; readyReplicas?: number; updatedReplicas?: number; availableReplicas?: number };
}

const replicas = withDefault(1, integer('The desired number of pods.'));
const scale = {
  specReplicasPath: '.spec.replicas',
  statusReplicasPath: '.status.replicas',
  labelSelectorPath: '.spec.selector',
};
const counts = {
  replicas: integer(),
  readyReplicas: integer(),
  availableReplicas: integer(),
  observedGeneration: int64(),
  conditions,
  terminatingReplicas: integer(),
};
const common = { group: 'apps', categories: ['all'], statusSubresource: true, scale };

export const deployments: ResourceDefinition = builtIn({
  ...common,
  kind: 'Deployment',
  shortNames: ['deploy'],
  schema: object(
    {
      spec: object(
        {
          replicas,
          selector: labelSelector,
          template: podTemplate,
          strategy: anything(),
          minReadySeconds: integer(),
          revisionHistoryLimit: withDefault(10, integer()),
          paused: boolean(),
          progressDeadlineSeconds: withDefault(600, integer()),
        },
        ['selector', 'template'],
      ),
      status: object({
        ...counts,
        updatedReplicas: integer(),
        unavailableReplicas: integer(),
        collisionCount: integer(),
      }),
    },
    [],
    'Maintains a set of replica pods.',
  ),
  columns: [
    column<Workload>('Ready', ({ spec, status }) => `${status?.readyReplicas ?? 0}/${spec?.replicas ?? 0}`),
    column<Workload>('Up-to-date', ({ status }) => status?.updatedReplicas ?? 0),
    column<Workload>('Available', ({ status }) => status?.availableReplicas ?? 0),
    ageColumn,
  ],
});

export const replicaSets: ResourceDefinition = builtIn({
  ...common,
  kind: 'ReplicaSet',
  shortNames: ['rs'],
  schema: object(
    {
      spec: object({ replicas, selector: labelSelector, template: podTemplate, minReadySeconds: integer() }, [
        'selector',
      ]),
      status: object({ ...counts, fullyLabeledReplicas: integer() }),
    },
    [],
    'Maintains a set of pods with one template.',
  ),
  columns: [
    column<Workload>('Desired', ({ spec }) => spec?.replicas ?? 0),
    column<Workload>('Current', ({ status }) => status?.replicas ?? 0),
    column<Workload>('Ready', ({ status }) => status?.readyReplicas ?? 0),
    ageColumn,
  ],
});

interface ControllerRevision extends KubeObject {
  data?: unknown;
  revision?: number;
}

function validateRevision(revised: KubeObject, previous: KubeObject | undefined): StatusCause[] {
  const { data, revision = 0 } = revised as ControllerRevision;
  const negative = revision < 0 ? [fieldInvalid('revision', revision, 'must be greater than or equal to 0')] : [];
  const changed = previous !== undefined && !deepEqual(data, (previous as ControllerRevision).data);
  return changed ? [...negative, fieldInvalid('data', data, 'field is immutable')] : negative;
}

/** The controller in the form that kubectl prints: `deployment.apps/web`. */
function controllerOf({ metadata }: KubeObject): string {
  const owner = metadata.ownerReferences?.find(({ controller }) => controller === true);
  if (!owner) return NONE;
  const [group] = owner.apiVersion.includes('/') ? owner.apiVersion.split('/') : [''];
  return `${owner.kind.toLowerCase()}${group ? `.${group}` : ''}/${owner.name}`;
}

export const controllerRevisions: ResourceDefinition = builtIn({
  group: 'apps',
  kind: 'ControllerRevision',
  schema: object(
    { data: anything('The immutable snapshot of the state.'), revision: int64('The number of the revision.') },
    ['revision'],
    'An immutable snapshot of state data.',
  ),
  strategy: { validate: validateRevision },
  columns: [
    column('Controller', controllerOf),
    column<ControllerRevision>('Revision', ({ revision }) => revision ?? 0),
    ageColumn,
  ],
});
