import type { KubeObject, ObjectsAtRest } from '@headgate/kube-sandbox';
import { PVC_PROTECTION } from '../controllers/storage/claim-markers.js';
import { defaultStorageClass } from '../storage-classes/default-storage-class.js';
import { chooseNode } from '../controllers/pods/node-choice.js';
import { setRunning, qosClass } from '../controllers/pods/pod-status.js';
import { setCondition } from '../types/condition.js';
import type { Node, PersistentVolumeClaim, Pod } from '../types/core-kinds.js';
import { RESOURCES } from '../resources.js';
import type { SimulationContext } from '../simulation-context.js';
import { seededUid } from './seeded-values.js';

export interface ContainerSeed {
  name: string;
  namespace?: string;
  image?: string;
  cpu?: number;
  memory?: string;
  disk?: string;
  privileged?: boolean;
  /** Default true; a stopped container has a claim and no pod. */
  running?: boolean;
  /** Default: the least loaded one that fits. */
  node?: string;
  createdAt?: Date;
  /** Labels of the pod and of the claim. */
  labels?: Record<string, string>;
  /** The claim with its data; default name: the container's with `-data`. */
  claim?: { name?: string; annotations?: Record<string, string> };
}

export const CONTAINER_DEFAULTS = {
  namespace: 'tailvm',
  image: 'registry.example.org/library/debian:12',
  cpu: 1,
  memory: '512Mi',
  disk: '5Gi',
  privileged: false,
  running: true,
} as const;

/**
 * The same container in a state at rest, on the node of the seed; its objects are built when one of them is first read.
 */
export function containerAtRest(context: SimulationContext, seed: ContainerSeed & { node: string }): ObjectsAtRest {
  const { name, namespace = CONTAINER_DEFAULTS.namespace, running = true } = seed;
  const claimName = claimNameOf(seed);
  const claim = {
    resource: RESOURCES.claim,
    namespace,
    name: claimName,
    uid: seededUid(`PersistentVolumeClaim/${namespace}/${claimName}`),
  };
  if (!running) return { members: [claim], build: () => seedContainer(context, seed) };
  const address = context.nextAddress();
  return {
    members: [claim, { resource: RESOURCES.pod, namespace, name, uid: seededUid(`Pod/${namespace}/${name}/ct`) }],
    build: () => seedContainer(context, seed, address),
  };
}

const claimNameOf = ({ name, claim }: ContainerSeed): string => claim?.name ?? `${name}-data`;

/**
 * A container with persistent data: a pod, and a claim that remains without it.
 * @param address of the pod; default: the next one of the pod network
 */
export function seedContainer(context: SimulationContext, seed: ContainerSeed, address?: string): KubeObject[] {
  const { name, namespace, image, cpu, memory, disk, privileged } = { ...CONTAINER_DEFAULTS, ...seed };
  const creationTimestamp = `${(seed.createdAt ?? new Date(context.clock.now())).toISOString().slice(0, 19)}Z`;
  const labels = { ...seed.labels };
  const claimName = claimNameOf(seed);
  const storageClassName = defaultStorageClass(context)?.metadata.name;
  const claim: PersistentVolumeClaim = {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: {
      name: claimName,
      namespace,
      uid: seededUid(`PersistentVolumeClaim/${namespace}/${claimName}`),
      creationTimestamp,
      labels,
      ...(seed.claim?.annotations ? { annotations: seed.claim.annotations } : {}),
      finalizers: [PVC_PROTECTION],
    },
    spec: {
      accessModes: ['ReadWriteOnce'],
      ...(storageClassName ? { storageClassName } : {}),
      volumeMode: 'Filesystem',
      volumeName: `pvc-${seededUid(`PersistentVolume/${namespace}/${claimName}`)}`,
      resources: { requests: { storage: disk } },
    },
    status: { phase: 'Bound', accessModes: ['ReadWriteOnce'], capacity: { storage: disk } },
  };
  if (seed.running === false) return [claim];
  const resources = { cpu: String(cpu), memory };
  const pod: Pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace, uid: seededUid(`Pod/${namespace}/${name}/ct`), creationTimestamp, labels },
    spec: {
      hostname: name,
      restartPolicy: 'Always',
      terminationGracePeriodSeconds: 10,
      containers: [
        {
          name: 'main',
          image,
          resources: { requests: resources, limits: resources },
          volumeMounts: [{ name: 'data', mountPath: privileged ? '/persist' : '/data' }],
          securityContext: { privileged },
        },
      ],
      volumes: [{ name: 'data', persistentVolumeClaim: { claimName } }],
    },
  };
  const node = seed.node ? context.find<Node>(RESOURCES.node, undefined, seed.node) : chooseNode(context, pod).node;
  if (!node) return [claim, pod];
  pod.spec.nodeName = node.metadata.name;
  pod.status = { startTime: creationTimestamp, qosClass: qosClass(pod), conditions: [] };
  setCondition(pod.status.conditions!, { type: 'PodScheduled', status: 'True' }, creationTimestamp);
  const host = node.status?.addresses?.find(({ type }) => type === 'InternalIP')?.address ?? '192.0.2.1';
  setRunning(pod, address ?? context.nextAddress(), host, creationTimestamp);
  return [claim, pod];
}
