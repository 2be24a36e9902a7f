import type { KubeObject } from '../kube-object.js';
import type { ResourceDefinition } from '../resource-definition.js';
import { anything, boolean, listBy, listOf, mapOf, object, setOf, string, time } from '../schema/schema-builders.js';
import { builtIn } from './built-in.js';
import { ageColumn, column, NONE } from './column.js';
import { conditions, quantities } from './shared-schemas.js';

interface Node extends KubeObject {
  spec?: { unschedulable?: boolean };
  status?: {
    conditions?: { type: string; status: string }[];
    addresses?: { type: string; address: string }[];
    nodeInfo?: { kubeletVersion?: string; osImage?: string; kernelVersion?: string; containerRuntimeVersion?: string };
  };
}

const ROLE_LABEL = 'node-role.kubernetes.io/';

function nodeStatus({ spec, status }: Node): string {
  const ready = status?.conditions?.find(({ type }) => type === 'Ready');
  const text = ready ? (ready.status === 'True' ? 'Ready' : 'NotReady') : 'Unknown';
  return spec?.unschedulable ? `${text},SchedulingDisabled` : text;
}

const addressOf = ({ status }: Node, wanted: string): string =>
  status?.addresses?.find(({ type }) => type === wanted)?.address ?? NONE;

export const nodes: ResourceDefinition = builtIn({
  kind: 'Node',
  shortNames: ['no'],
  namespaced: false,
  statusSubresource: true,
  schema: object(
    {
      spec: object({
        podCIDR: string(),
        podCIDRs: setOf(string()),
        providerID: string(),
        unschedulable: boolean('Whether the node is excluded from scheduling.'),
        taints: listOf(
          object({ key: string(), value: string(), effect: string(), timeAdded: time() }, ['key', 'effect']),
        ),
        configSource: anything(),
      }),
      status: object({
        capacity: quantities,
        allocatable: quantities,
        conditions,
        addresses: listBy(['type'], object({ type: string(), address: string() }, ['type', 'address'])),
        phase: string(),
        daemonEndpoints: anything(),
        features: anything(),
        runtimeHandlers: listOf(anything()),
        nodeInfo: mapOf(string()),
        images: listOf(anything()),
        volumesInUse: listOf(string()),
        volumesAttached: listOf(anything()),
      }),
    },
    [],
    'A worker machine of the cluster.',
  ),
  selectableFields: { 'spec.unschedulable': (object) => String((object as Node).spec?.unschedulable ?? false) },
  columns: [
    column<Node>('Status', nodeStatus),
    column<Node>(
      'Roles',
      ({ metadata }) =>
        Object.keys(metadata.labels ?? {})
          .filter((key) => key.startsWith(ROLE_LABEL))
          .map((key) => key.slice(ROLE_LABEL.length))
          .sort()
          .join(',') || NONE,
    ),
    ageColumn,
    column<Node>('Version', ({ status }) => status?.nodeInfo?.kubeletVersion ?? ''),
    column<Node>('Internal-IP', (node) => addressOf(node, 'InternalIP'), 1),
    column<Node>('External-IP', (node) => addressOf(node, 'ExternalIP'), 1),
    column<Node>('OS-Image', ({ status }) => status?.nodeInfo?.osImage ?? '<unknown>', 1),
    column<Node>('Kernel-Version', ({ status }) => status?.nodeInfo?.kernelVersion ?? '<unknown>', 1),
    column<Node>('Container-Runtime', ({ status }) => status?.nodeInfo?.containerRuntimeVersion ?? '<unknown>', 1),
  ],
});
