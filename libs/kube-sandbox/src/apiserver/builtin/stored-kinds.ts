import type { KubeObject } from '../kube-object.js';
import type { ResourceDefinition } from '../resource-definition.js';
import { anything, boolean, integer, listOf, object, oneOf, string, withDefault } from '../schema/schema-builders.js';
import { builtIn } from './built-in.js';
import { ageColumn, column } from './column.js';
import { podTemplate } from './pod-schema.js';
import { conditions, labelSelector } from './shared-schemas.js';

interface Driver extends KubeObject {
  spec?: { attachRequired?: boolean; podInfoOnMount?: boolean; storageCapacity?: boolean };
}

interface StorageCapacity extends KubeObject {
  storageClassName?: string;
  capacity?: string;
}

interface DaemonSet extends KubeObject {
  status?: { desiredNumberScheduled?: number; currentNumberScheduled?: number; numberReady?: number };
}

interface ApiService extends KubeObject {
  spec?: { service?: { namespace: string; name: string } };
  status?: { conditions?: { type: string; status: string }[] };
}

interface WebhookConfiguration extends KubeObject {
  webhooks?: unknown[];
}

const workload = { group: 'apps', categories: ['all'], statusSubresource: true };
const webhooks = (kind: string): ResourceDefinition =>
  builtIn({
    group: 'admissionregistration.k8s.io',
    kind,
    categories: ['api-extensions'],
    namespaced: false,
    schema: object({ webhooks: listOf(anything()) }, [], 'Webhooks of admission; this server calls none of them.'),
    columns: [column<WebhookConfiguration>('Webhooks', (each) => each.webhooks?.length ?? 0), ageColumn],
  });

/** Kinds that clients look for and that this server stores; nothing acts on them here. */
export const storedKinds: ResourceDefinition[] = [
  builtIn({
    group: 'storage.k8s.io',
    kind: 'CSIDriver',
    namespaced: false,
    schema: object(
      {
        spec: object({
          attachRequired: withDefault(true, boolean()),
          podInfoOnMount: withDefault(false, boolean()),
          requiresRepublish: boolean(),
          storageCapacity: withDefault(false, boolean()),
          seLinuxMount: boolean(),
          fsGroupPolicy: withDefault('ReadWriteOnceWithFSType', string()),
          tokenRequests: listOf(anything()),
          volumeLifecycleModes: listOf(oneOf(['Persistent', 'Ephemeral'])),
        }),
      },
      ['spec'],
      'A CSI driver of the cluster.',
    ),
    columns: [
      column<Driver>('AttachRequired', ({ spec }) => spec?.attachRequired ?? true),
      column<Driver>('PodInfoOnMount', ({ spec }) => spec?.podInfoOnMount ?? false),
      column<Driver>('StorageCapacity', ({ spec }) => spec?.storageCapacity ?? false),
      ageColumn,
    ],
  }),
  builtIn({
    group: 'storage.k8s.io',
    kind: 'CSIStorageCapacity',
    plural: 'csistoragecapacities',
    schema: object(
      {
        storageClassName: string('The storage class.'),
        nodeTopology: labelSelector,
        capacity: string('The free space, a quantity.'),
        maximumVolumeSize: string('The size of the largest volume, a quantity.'),
      },
      ['storageClassName'],
      'The space of a storage class in a segment of the cluster.',
    ),
    columns: [
      column<StorageCapacity>('StorageClassName', ({ storageClassName }) => storageClassName ?? ''),
      column<StorageCapacity>('Capacity', ({ capacity }) => capacity ?? ''),
    ],
  }),
  builtIn({
    ...workload,
    kind: 'DaemonSet',
    shortNames: ['ds'],
    schema: object(
      {
        spec: object({ selector: labelSelector, template: podTemplate, updateStrategy: anything() }, [
          'selector',
          'template',
        ]),
        status: object({
          desiredNumberScheduled: integer(),
          currentNumberScheduled: integer(),
          numberReady: integer(),
          numberAvailable: integer(),
          numberMisscheduled: integer(),
          updatedNumberScheduled: integer(),
          conditions,
        }),
      },
      [],
      'Runs a pod on every node.',
    ),
    columns: [
      column<DaemonSet>('Desired', ({ status }) => status?.desiredNumberScheduled ?? 0),
      column<DaemonSet>('Current', ({ status }) => status?.currentNumberScheduled ?? 0),
      column<DaemonSet>('Ready', ({ status }) => status?.numberReady ?? 0),
      ageColumn,
    ],
  }),
  builtIn({
    ...workload,
    kind: 'StatefulSet',
    shortNames: ['sts'],
    schema: object({ spec: anything(), status: anything() }, [], 'Pods with stable names.'),
  }),
  builtIn({
    group: 'batch',
    categories: ['all'],
    statusSubresource: true,
    kind: 'CronJob',
    shortNames: ['cj'],
    schema: object({ spec: anything(), status: anything() }, [], 'Creates jobs on a schedule.'),
  }),
  builtIn({
    group: 'networking.k8s.io',
    kind: 'Ingress',
    plural: 'ingresses',
    shortNames: ['ing'],
    statusSubresource: true,
    schema: object({ spec: anything(), status: anything() }, [], 'Routes HTTP requests to services.'),
  }),
  builtIn({
    group: 'networking.k8s.io',
    kind: 'NetworkPolicy',
    plural: 'networkpolicies',
    shortNames: ['netpol'],
    schema: object({ spec: anything() }, [], 'Limits the traffic of pods.'),
  }),
  webhooks('ValidatingWebhookConfiguration'),
  webhooks('MutatingWebhookConfiguration'),
  builtIn({
    group: 'apiregistration.k8s.io',
    kind: 'APIService',
    categories: ['api-extensions'],
    namespaced: false,
    statusSubresource: true,
    schema: object({ spec: anything(), status: anything() }, [], 'The server of an API group and version.'),
    columns: [
      column<ApiService>('Service', ({ spec }) =>
        spec?.service ? `${spec.service.namespace}/${spec.service.name}` : 'Local',
      ),
      column<ApiService>(
        'Available',
        ({ status }) => status?.conditions?.find(({ type }) => type === 'Available')?.status ?? 'Unknown',
      ),
      ageColumn,
    ],
  }),
];
