import type { KubeObject, ObjectKey, ResourceDefinition } from '@headgate/kube-sandbox';
import { quantityValue } from '../quantity.js';
import { RESOURCES } from '../resources.js';
import type { Container, Node, Pod } from '../types/core-kinds.js';
import { isTrue } from '../types/condition.js';
import type { VirtualMachineInstance } from '../types/virtual-machine-instance.js';
import type { SimulationContext } from '../simulation-context.js';
import { pseudoLoad, WINDOW_MS } from './pseudo-load.js';

interface Metrics extends KubeObject {
  timestamp: string;
  window: string;
}

interface PodMetrics extends Metrics {
  containers: { name: string; usage: Record<string, string> }[];
}

interface NodeMetrics extends Metrics {
  usage: Record<string, string>;
}

const GROUP = 'metrics.k8s.io';
/** A virtual CPU requests a tenth of a core, and may use a whole one. */
const CORES_PER_REQUESTED = 10;
/** The container of a launcher pod that runs the guest. */
const GUEST_CONTAINER = 'compute';
/** The virtual CPUs of a paused guest use nothing; the emulator itself uses half a millicore. */
const PAUSED_GUEST_CPU = '500000n';

/** metrics.k8s.io: computed on request, from the object and the time alone. */
export const metricsDefinitions = (context: SimulationContext): ResourceDefinition[] => [
  {
    group: GROUP,
    plural: 'pods',
    singular: '',
    kind: 'PodMetrics',
    namespaced: true,
    verbs: ['get', 'list'],
    versions: [{ name: 'v1beta1', served: true }],
    provider: {
      list: (namespace) =>
        context.store
          .list<Pod>(RESOURCES.pod, { namespace, where: (pod) => isMeasured(context, pod) })
          .map((pod) => podMetrics(context, pod)),
      get: (key: ObjectKey) => {
        const pod = context.store.get<Pod>(RESOURCES.pod, key);
        return pod && isMeasured(context, pod) ? podMetrics(context, pod) : undefined;
      },
    },
  },
  {
    group: GROUP,
    plural: 'nodes',
    singular: '',
    kind: 'NodeMetrics',
    namespaced: false,
    verbs: ['get', 'list'],
    versions: [{ name: 'v1beta1', served: true }],
    provider: {
      list: () => context.store.list<Node>(RESOURCES.node).map((node) => nodeMetrics(context, node)),
      get: (key: ObjectKey) => {
        const node = context.store.get<Node>(RESOURCES.node, key);
        return node && nodeMetrics(context, node);
      },
    },
  },
];

/** A pod is first measured a while after its start. */
function isMeasured({ clock, timings }: SimulationContext, { status }: Pod): boolean {
  if (status?.phase !== 'Running' || !status.startTime) return false;
  return clock.now() - Date.parse(status.startTime) >= timings.ms('metricsFirst');
}

const stampOf = (nowMs: number): Pick<Metrics, 'timestamp' | 'window'> => ({
  timestamp: `${new Date(Math.floor(nowMs / WINDOW_MS) * WINDOW_MS).toISOString().slice(0, 19)}Z`,
  window: '15s',
});

function podMetrics({ clock, store }: SimulationContext, { metadata, spec }: Pod): PodMetrics {
  const { name, namespace, labels, creationTimestamp } = metadata;
  const held = metadata.ownerReferences?.some(({ uid }) => {
    const owner = store.findByUid<VirtualMachineInstance>(uid)?.object;
    return owner?.kind === 'VirtualMachineInstance' && isTrue(owner.status?.conditions, 'Paused');
  });
  return {
    apiVersion: `${GROUP}/v1beta1`,
    kind: 'PodMetrics',
    metadata: { name, namespace, ...(labels ? { labels } : {}), creationTimestamp },
    ...stampOf(clock.now()),
    containers: spec.containers.map((container) => ({
      name: container.name,
      usage: {
        ...usageOf(container, `${metadata.uid}/${container.name}`, clock.now()),
        ...(held && container.name === GUEST_CONTAINER ? { cpu: PAUSED_GUEST_CPU } : {}),
      },
    })),
  };
}

function usageOf({ name, resources }: Container, id: string, nowMs: number): Record<string, string> {
  const load = pseudoLoad(id, nowMs);
  const requested = quantityValue(resources?.requests?.cpu ?? resources?.limits?.cpu ?? '100m');
  const cores = name === GUEST_CONTAINER ? requested * CORES_PER_REQUESTED : requested;
  const memory = quantityValue(resources?.requests?.memory ?? resources?.limits?.memory ?? '256Mi');
  return { cpu: `${Math.round(cores * load * 1e9)}n`, memory: `${Math.round((memory * (0.4 + load / 2)) / 1024)}Ki` };
}

function nodeMetrics({ clock, loads }: SimulationContext, { metadata, status }: Node): NodeMetrics {
  const now = clock.now();
  const load = Math.min(0.95, pseudoLoad(metadata.uid!, now) * (0.3 + loads.pods(metadata.name) / 200));
  const cores = quantityValue(status?.capacity?.cpu ?? '1');
  const memory = quantityValue(status?.capacity?.memory ?? '1Gi');
  return {
    apiVersion: `${GROUP}/v1beta1`,
    kind: 'NodeMetrics',
    metadata: { name: metadata.name, ...(metadata.labels ? { labels: metadata.labels } : {}) },
    ...stampOf(now),
    usage: { cpu: `${Math.round(cores * load * 1e9)}n`, memory: `${Math.round((memory * (0.2 + load / 2)) / 1024)}Ki` },
  };
}
