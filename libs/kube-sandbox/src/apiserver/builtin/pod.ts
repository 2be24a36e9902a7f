import { fieldForbidden, fieldRequired, type StatusCause } from '../api-error.js';
import { deepCopy, deepEqual } from '../deep-copy.js';
import type { KubeObject } from '../kube-object.js';
import type { ResourceDefinition, ResourceStrategy } from '../resource-definition.js';
import { age } from '../table/human-duration.js';
import { builtIn } from './built-in.js';
import { ageColumn, column, NONE } from './column.js';
import { podSchema } from './pod-schema.js';

interface Container {
  name: string;
  image?: string;
  imagePullPolicy?: string;
  /** Always makes an init container a sidecar. */
  restartPolicy?: string;
  resources?: { requests?: Record<string, unknown>; limits?: Record<string, unknown> };
}

interface ContainerStatus {
  ready?: boolean;
  restartCount?: number;
  state?: { waiting?: { reason?: string }; terminated?: { reason?: string; exitCode?: number; signal?: number } };
  lastState?: { terminated?: { finishedAt?: string } };
}

export interface Pod extends KubeObject {
  spec: {
    containers: Container[];
    initContainers?: Container[];
    nodeName?: string;
    serviceAccountName?: string;
    serviceAccount?: string;
    terminationGracePeriodSeconds?: number;
    activeDeadlineSeconds?: number;
    tolerations?: unknown[];
    restartPolicy?: string;
    ephemeralContainers?: Container[];
  };
  status?: {
    phase?: string;
    reason?: string;
    podIP?: string;
    qosClass?: string;
    nominatedNodeName?: string;
    containerStatuses?: ContainerStatus[];
    initContainerStatuses?: ContainerStatus[];
  };
}

export const EPHEMERAL_CONTAINERS = 'ephemeralcontainers';

const DEFAULT_GRACE_SECONDS = 30;

const strategy: ResourceStrategy = {
  prepareForCreate: (draft) => {
    const pod = draft as Pod;
    pod.spec.serviceAccountName ??= 'default';
    pod.spec.serviceAccount ??= pod.spec.serviceAccountName;
    for (const container of [...(pod.spec.containers ?? []), ...(pod.spec.initContainers ?? [])]) {
      container.imagePullPolicy ??= isLatest(container.image) ? 'Always' : 'IfNotPresent';
      container.resources ??= {};
    }
    pod.status = { phase: 'Pending', qosClass: qosClass(pod) };
  },
  validate: (object, previous) => [
    ...validateContainers(object as Pod),
    ...(previous ? validateChange(object as Pod, previous as Pod) : []),
  ],
  gracePeriodSeconds: (object, requested) => {
    const { spec, status } = object as Pod;
    const isDone = status?.phase === 'Succeeded' || status?.phase === 'Failed';
    // No kubelet runs a pod that was never scheduled.
    if (isDone || !spec.nodeName) return 0;
    return requested ?? spec.terminationGracePeriodSeconds ?? DEFAULT_GRACE_SECONDS;
  },
};

function isLatest(image = ''): boolean {
  const tag = image.split('/').at(-1)!;
  return !image.includes('@') && (!tag.includes(':') || tag.endsWith(':latest'));
}

function qosClass({ spec }: Pod): string {
  const all = spec.containers ?? [];
  const isSet = (values?: Record<string, unknown>): boolean => Object.keys(values ?? {}).length > 0;
  const isGuaranteed = ({ resources: { requests, limits } = {} }: Container): boolean =>
    limits?.['cpu'] !== undefined &&
    limits['memory'] !== undefined &&
    (!isSet(requests) || deepEqual(requests, limits));
  if (all.every(isGuaranteed)) return 'Guaranteed';
  return all.some(({ resources }) => isSet(resources?.requests) || isSet(resources?.limits))
    ? 'Burstable'
    : 'BestEffort';
}

function validateContainers({ spec }: Pod): StatusCause[] {
  const containers = spec?.containers ?? [];
  if (containers.length === 0) return [fieldRequired('spec.containers')];
  return containers.flatMap(({ image }, index) => (image ? [] : [fieldRequired(`spec.containers[${index}].image`)]));
}

const MUTABLE_TEXT =
  'pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)';

function validateChange(pod: Pod, previous: Pod): StatusCause[] {
  const frozenPart = ({ spec }: Pod): object => {
    const copy = deepCopy(spec);
    for (const container of [...copy.containers, ...(copy.initContainers ?? [])]) delete container.image;
    delete copy.activeDeadlineSeconds;
    delete copy.tolerations;
    // They are changed through their own subresource only, which keeps everything else.
    delete copy.ephemeralContainers;
    // Only the scheduler assigns a node, and only once.
    if (!previous.spec.nodeName) delete copy.nodeName;
    return copy;
  };
  return deepEqual(frozenPart(pod), frozenPart(previous)) ? [] : [fieldForbidden('spec', MUTABLE_TEXT)];
}

/** Init containers that keep running with the others. */
const sidecarsOf = ({ initContainers = [] }: Pod['spec']): Container[] =>
  initContainers.filter(({ restartPolicy }) => restartPolicy === 'Always');

function readyContainers({ containerStatuses = [], initContainerStatuses = [] }: Pod['status'] = {}): number {
  const sidecars = initContainerStatuses.filter(({ ready, state }) => ready && !state?.terminated);
  return [...containerStatuses.filter(({ ready }) => ready), ...sidecars].length;
}

function podStatus({ metadata, status = {} }: Pod): string {
  let text = status.reason ?? status.phase ?? '';
  for (const { state } of status.containerStatuses ?? []) {
    if (state?.waiting?.reason) text = state.waiting.reason;
    else if (state?.terminated) text = state.terminated.reason ?? `ExitCode:${state.terminated.exitCode ?? 0}`;
  }
  return metadata.deletionTimestamp ? 'Terminating' : text;
}

function restarts({ status }: Pod, nowMs: number): string {
  const count = (status?.containerStatuses ?? []).reduce((sum, { restartCount = 0 }) => sum + restartCount, 0);
  const last = (status?.containerStatuses ?? [])
    .map(({ lastState }) => lastState?.terminated?.finishedAt)
    .find(Boolean);
  return count > 0 && last ? `${count} (${age(last, nowMs)} ago)` : String(count);
}

export const pods: ResourceDefinition = builtIn({
  kind: 'Pod',
  shortNames: ['po'],
  categories: ['all'],
  schema: podSchema,
  statusSubresource: true,
  strategy,
  subresources: [
    { name: 'eviction', kind: 'Eviction', group: 'policy', version: 'v1', verbs: ['create'] },
    { name: 'log', verbs: ['get'] },
    { name: EPHEMERAL_CONTAINERS, verbs: ['get', 'patch', 'update'] },
    { name: 'exec', kind: 'PodExecOptions', verbs: ['create', 'get'] },
    { name: 'attach', kind: 'PodAttachOptions', verbs: ['create', 'get'] },
    { name: 'portforward', kind: 'PodPortForwardOptions', verbs: ['create', 'get'] },
  ],
  selectableFields: {
    'spec.nodeName': (pod) => (pod as Pod).spec.nodeName ?? '',
    'spec.restartPolicy': (pod) => (pod as Pod).spec.restartPolicy ?? '',
    'spec.serviceAccountName': (pod) => (pod as Pod).spec.serviceAccountName ?? '',
    'status.phase': (pod) => (pod as Pod).status?.phase ?? '',
    'status.podIP': (pod) => (pod as Pod).status?.podIP ?? '',
    'status.nominatedNodeName': (pod) => (pod as Pod).status?.nominatedNodeName ?? '',
  },
  columns: [
    column<Pod>(
      'Ready',
      ({ spec, status }) => `${readyContainers(status)}/${spec.containers.length + sidecarsOf(spec).length}`,
    ),
    column<Pod>('Status', podStatus),
    column<Pod>('Restarts', restarts),
    ageColumn,
    column<Pod>('IP', ({ status }) => status?.podIP ?? NONE, 1),
    column<Pod>('Node', ({ spec }) => spec.nodeName ?? NONE, 1),
    column<Pod>('Nominated Node', ({ status }) => status?.nominatedNodeName ?? NONE, 1),
    column<Pod>('Readiness Gates', () => NONE, 1),
  ],
});
