import type { KubeApi } from '../api/kube-api.js';
import { KubeApiError } from '../api/kube-api-error.js';
import type { KubeObject } from '../api/kube-object.js';
import { STORAGE_CLASSES, VOLUME_SNAPSHOT_CLASSES } from '../api/resources.js';

export interface StorageClassObject extends KubeObject {
  readonly provisioner?: string;
  readonly allowVolumeExpansion?: boolean;
  readonly volumeBindingMode?: string;
}

export interface SnapshotClassObject extends KubeObject {
  readonly driver?: string;
}

/** KubeVirt's default for VM disks takes precedence over the cluster's default. */
const DEFAULT_ANNOTATIONS = [
  'storageclass.kubevirt.io/is-default-virt-class',
  'storageclass.kubernetes.io/is-default-class',
] as const;

export const storageClasses = (api: KubeApi): Promise<StorageClassObject[]> =>
  api.list<StorageClassObject>(STORAGE_CLASSES);

/** @returns undefined when the cluster has no snapshot controller */
export async function snapshotClasses(api: KubeApi): Promise<SnapshotClassObject[] | undefined> {
  try {
    return await api.list<SnapshotClassObject>(VOLUME_SNAPSHOT_CLASSES);
  } catch (error) {
    if (KubeApiError.has(error, 404)) return undefined;
    throw error;
  }
}

/** The storage class of a new VM disk. Of several defaults Kubernetes uses the newest. */
export function defaultClass(classes: readonly StorageClassObject[]): StorageClassObject | undefined {
  for (const annotation of DEFAULT_ANNOTATIONS) {
    const marked = classes.filter(({ metadata }) => metadata.annotations?.[annotation] === 'true');
    marked.sort((a, b) => (b.metadata.creationTimestamp ?? '').localeCompare(a.metadata.creationTimestamp ?? ''));
    if (marked[0]) return marked[0];
  }
  return undefined;
}

/** Whether disks of this storage class can be snapshotted: some snapshot class has the same driver. */
export const canSnapshot = (
  storage: StorageClassObject | undefined,
  classes: readonly SnapshotClassObject[] | undefined,
): boolean =>
  classes !== undefined &&
  (storage ? classes.some(({ driver }) => driver === storage.provisioner) : classes.length > 0);
