import type { Json, JsonObject } from '@headgate/domain-contracts';
import { maskSecrets } from '../inventory/mask-secrets.js';
import { LABEL } from '../labels.js';

/** Of the metadata, what a simulation uses. `managedFields` and versions are those of the cluster. */
const METADATA = [
  'name',
  'namespace',
  'uid',
  'generation',
  'creationTimestamp',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
  'labels',
  'annotations',
  'finalizers',
  'ownerReferences',
];
const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';
/** Annotations of pods that the simulation uses. Others may contain the configuration of what runs in them. */
const POD_ANNOTATIONS = /^(kubevirt\.io\/|k8s\.v1\.cni\.cncf\.io\/networks$)/;
const POD_SPEC = [
  'nodeName',
  'nodeSelector',
  'affinity',
  'tolerations',
  'restartPolicy',
  'terminationGracePeriodSeconds',
  'readinessGates',
];
const CONTAINER = ['name', 'image', 'resources', 'restartPolicy'];
const POD_STATUS = ['phase', 'podIP', 'podIPs', 'hostIP', 'startTime', 'qosClass', 'reason'];
const CONTAINER_STATUS = ['name', 'image', 'imageID', 'ready', 'started', 'restartCount'];

/**
 * A copy of an object without secrets, user data and bookkeeping of the cluster; of a pod only its place, its
 * resources and its state, never its environment and arguments.
 */
export function reduceObject(kind: string, object: JsonObject): JsonObject {
  const { metadata, ...content } = object;
  const kept = metadataOf(objectOf(metadata));
  if (kind === 'Pod') return { metadata: podMetadata(kept), ...podContent(content) };
  return { metadata: kept, ...objectOf(maskSecrets(content)) };
}

/** Whether a pod is over: it takes no room, and what has run in it does not run again. */
export const isOver = (object: JsonObject): boolean =>
  ['Succeeded', 'Failed'].includes(String(objectOf(object['status'])['phase']));

function metadataOf(metadata: JsonObject): JsonObject {
  const { annotations, ...kept } = pick(metadata, METADATA);
  if (annotations === undefined) return kept;
  const { [LAST_APPLIED]: _applied, ...others } = objectOf(annotations);
  return { ...kept, annotations: others };
}

function podMetadata({ annotations, ...metadata }: JsonObject): JsonObject {
  const isOfService = objectOf(metadata['labels'])[LABEL.kind] !== undefined;
  const entries = Object.entries(objectOf(annotations)).filter(([name]) => isOfService || POD_ANNOTATIONS.test(name));
  return { ...metadata, annotations: Object.fromEntries(entries) };
}

function podContent({ spec, status }: JsonObject): JsonObject {
  const { containers, initContainers, volumes } = objectOf(spec);
  const { conditions, containerStatuses } = objectOf(status);
  const isKnown = Array.isArray(containerStatuses);
  return {
    spec: {
      ...pick(objectOf(spec), POD_SPEC),
      containers: listOf(containers).map((container) => pick(container, CONTAINER)),
      ...(Array.isArray(initContainers) && {
        initContainers: listOf(initContainers).map((container) => pick(container, CONTAINER)),
      }),
      volumes: listOf(volumes).map(volumeOf),
    },
    status: {
      ...pick(objectOf(status), POD_STATUS),
      conditions: listOf(conditions),
      ...(isKnown && { containerStatuses: listOf(containerStatuses).map(containerStatusOf) }),
    },
  };
}

/** Only claims matter to the scheduler. */
const volumeOf = ({ name, persistentVolumeClaim }: JsonObject): JsonObject => ({
  name: name ?? '',
  ...(persistentVolumeClaim === undefined ? { emptyDir: {} } : { persistentVolumeClaim }),
});

/** Messages of containers may quote their output. */
function containerStatusOf(status: JsonObject): JsonObject {
  const { waiting, running } = objectOf(status['state']);
  const state: JsonObject = running
    ? { running }
    : { waiting: { reason: objectOf(waiting)['reason'] ?? 'ContainerCreating' } };
  return { ...pick(status, CONTAINER_STATUS), state, lastState: {} };
}

const pick = (object: JsonObject, names: readonly string[]): JsonObject =>
  Object.fromEntries(
    names.flatMap((name): [string, Json][] => {
      const value = object[name];
      return value === undefined ? [] : [[name, value]];
    }),
  );

const objectOf = (value: Json | undefined): JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : {};

const listOf = (value: Json | undefined): JsonObject[] =>
  Array.isArray(value) ? value.filter((item) => typeof item === 'object' && item !== null && !Array.isArray(item)) : [];
