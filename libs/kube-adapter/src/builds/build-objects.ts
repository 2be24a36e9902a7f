import { createHash } from 'node:crypto';
import {
  formatBytes,
  type BuildContainer,
  type BuildPermission,
  type DiskBuild,
  type JsonObject,
} from '@headgate/domain-contracts';
import type { KubeObject, OwnerReference } from '../api/kube-object.js';
import type { JobObject } from '../api/object-types.js';
import { ANNOTATION, LABEL } from '../labels.js';

/** Which builds the operator allows in a cluster, and how their pods run. */
export interface DiskBuildOptions {
  /** Repositories whose images may be built, or everything below a path that ends in `/`. `*` allows any image. */
  readonly images: readonly string[];
  /** Runs bootc instead of the image itself. */
  readonly builderImage?: string;
  /** A Secret of the type `kubernetes.io/dockerconfigjson` in the namespace of the VM: for the node and for bootc. */
  readonly pullSecret?: string;
  /** How long a build may take. */
  readonly timeoutMs?: number;
}

export interface BuildPod {
  readonly build: DiskBuild;
  readonly container: BuildContainer;
  readonly isBlockDevice: boolean;
  /** Labels of the node on which the pod must run. */
  readonly nodeSelector: Readonly<Record<string, string>>;
  readonly options: DiskBuildOptions;
}

const DEFAULT_TIMEOUT_MS = 2 * 60 * 60_000;
/** How long the cluster keeps a Job that has ended. A service that returns later builds again. */
const KEPT_SECONDS = 24 * 60 * 60;
/** The file that KubeVirt expects on a volume with a file system. */
const IMAGE_FILE = 'disk.img';
/**
 * Where bootc looks for the credentials of a registry. Source:
 * https://bootc-dev.github.io/bootc/registries-and-offline.html
 */
const REGISTRY_AUTH_FILE = '/run/ostree/auth.json';
const KEYS = 'authorized_keys';
export const CONTAINER = 'build';

/** Identifies a build in labels and names: task IDs are too long for them. */
export const buildLabel = (id: string): string => createHash('sha256').update(id).digest('hex').slice(0, 16);

export const jobName = (id: string): string => `headgate-build-${buildLabel(id)}`;

export const volumeName = ({ id, ref }: Pick<DiskBuild, 'id' | 'ref'>): string =>
  `${ref.name}-root-${buildLabel(id).slice(0, 8)}`;

export const isOfBuild = ({ metadata }: KubeObject, { id }: DiskBuild): boolean =>
  metadata.labels?.[LABEL.build] === buildLabel(id);

const metadataOf = ({ id, ref }: DiskBuild, name: string): KubeObject['metadata'] => ({
  name,
  namespace: ref.namespace,
  labels: { [LABEL.build]: buildLabel(id) },
  annotations: { [ANNOTATION.task]: id },
});

/** Without the label of the VM: nothing that deletes a VM of this name may delete the disk before it belongs to one. */
export function volumeManifest(build: DiskBuild): KubeObject {
  const metadata = metadataOf(build, volumeName(build));
  return {
    metadata: {
      ...metadata,
      annotations: { ...metadata.annotations, 'cdi.kubevirt.io/storage.bind.immediate.requested': 'true' },
    },
    spec: {
      source: { blank: {} },
      storage: {
        ...(build.storageClass !== undefined && { storageClassName: build.storageClass }),
        resources: { requests: { storage: formatBytes(build.request.diskBytes) } },
      },
    },
  } as KubeObject;
}

/** The SSH keys. The Job owns the Secret, so that they are deleted together. */
export function keysManifest(build: DiskBuild, job: JobObject, sshKey: string): KubeObject {
  const owner: OwnerReference = {
    apiVersion: 'batch/v1',
    kind: 'Job',
    name: job.metadata.name ?? '',
    uid: job.metadata.uid ?? '',
  };
  return {
    metadata: { ...metadataOf(build, jobName(build.id)), ownerReferences: [owner] },
    type: 'Opaque',
    data: { [KEYS]: Buffer.from(`${sshKey.trim()}\n`).toString('base64') },
  } as KubeObject;
}

/**
 * A pod that failed has left an incomplete disk, and the reason is in its log: it is not started again automatically.
 */
export function jobManifest(pod: BuildPod): KubeObject {
  const { build, options } = pod;
  return {
    metadata: metadataOf(build, jobName(build.id)),
    spec: {
      backoffLimit: 0,
      activeDeadlineSeconds: Math.ceil((options.timeoutMs ?? DEFAULT_TIMEOUT_MS) / 1000),
      ttlSecondsAfterFinished: KEPT_SECONDS,
      template: {
        metadata: { labels: { [LABEL.build]: buildLabel(build.id) } },
        spec: podSpec(pod),
      },
    },
  } as KubeObject;
}

/** The pod itself, for a rehearsal: the cluster checks the pods of a Job only when it creates them. */
export const podManifest = (pod: BuildPod): KubeObject =>
  ({
    metadata: { ...metadataOf(pod.build, jobName(pod.build.id)) },
    spec: podSpec(pod),
  }) as KubeObject;

function podSpec({ build, container, isBlockDevice, nodeSelector, options }: BuildPod): JsonObject {
  const { permissions } = container;
  const has = (permission: BuildPermission): boolean => permissions.includes(permission);
  const hasKeys = build.request.sshKey !== undefined;
  const { pullSecret } = options;
  const disk: JsonObject = isBlockDevice ? { volumeDevices: [{ name: 'disk', devicePath: container.diskFile }] } : {};
  const mounts: JsonObject[] = [
    ...(isBlockDevice ? [] : [{ name: 'disk', mountPath: container.diskFile, subPath: IMAGE_FILE }]),
    ...(hasKeys ? [{ name: 'keys', mountPath: container.keysFile, subPath: KEYS, readOnly: true }] : []),
    ...(has('host-devices') ? [{ name: 'dev', mountPath: '/dev' }] : []),
    ...(pullSecret === undefined
      ? []
      : [{ name: 'registry', mountPath: REGISTRY_AUTH_FILE, subPath: '.dockerconfigjson', readOnly: true }]),
  ];
  return {
    restartPolicy: 'Never',
    // The program of an image from a registry gets no access to the cluster.
    automountServiceAccountToken: false,
    enableServiceLinks: false,
    nodeSelector: { ...nodeSelector },
    ...(has('host-processes') ? { hostPID: true } : {}),
    ...(pullSecret === undefined ? {} : { imagePullSecrets: [{ name: pullSecret }] }),
    containers: [
      {
        name: CONTAINER,
        image: options.builderImage ?? container.image,
        command: [...container.command],
        ...(has('privileged-container')
          ? { securityContext: { privileged: true, seLinuxOptions: { type: 'unconfined_t' } } }
          : {}),
        ...disk,
        volumeMounts: mounts,
      },
    ],
    volumes: [
      { name: 'disk', persistentVolumeClaim: { claimName: volumeName(build) } },
      ...(hasKeys ? [{ name: 'keys', secret: { secretName: jobName(build.id), defaultMode: 0o400 } }] : []),
      ...(has('host-devices') ? [{ name: 'dev', hostPath: { path: '/dev', type: 'Directory' } }] : []),
      ...(pullSecret === undefined
        ? []
        : [{ name: 'registry', secret: { secretName: pullSecret, defaultMode: 0o400 } }]),
    ],
  };
}

/** Whether the operator allows builds of this image. */
export function isAllowedImage(image: string, allowed: readonly string[]): boolean {
  return allowed.some((entry) => {
    if (entry === '*') return true;
    if (entry.endsWith('/')) return image.startsWith(entry);
    return image === entry || image.startsWith(`${entry}:`) || image.startsWith(`${entry}@`);
  });
}
