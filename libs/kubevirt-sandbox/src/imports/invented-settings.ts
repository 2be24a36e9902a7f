import type { KubeObject } from '@headgate/kube-sandbox';
import { clusterSettings, namespace } from '../seeds/seed-cluster.js';
import type { StorageClass } from '../types/core-kinds.js';
import type { SimulationContext } from '../simulation-context.js';

/** The namespaces of the objects, of which the simulation has only some. */
export function inventedNamespaces(context: SimulationContext, objects: readonly KubeObject[]): KubeObject[] {
  const known = new Set(context.store.keys('namespaces').map(({ name }) => name));
  const names = new Set(objects.flatMap(({ metadata }) => metadata.namespace ?? []));
  return [...names].filter((name) => !known.has(name)).map(namespace);
}

/** The configuration of KubeVirt and CDI, where the cluster does not show its own. */
export function inventedSettings(
  context: SimulationContext,
  objects: readonly KubeObject[],
  notes: string[],
): KubeObject[] {
  const kinds = new Set(objects.map(({ kind }) => kind));
  const missing = clusterSettings(context).filter(({ kind }) => !kinds.has(kind));
  if (missing.some(({ kind }) => kind === 'KubeVirt'))
    notes.push("The configuration of KubeVirt could not be read, so the simulation's default is used.");
  return missing;
}

/**
 * The drivers of storage, which no client of virtual machines reads: a class has one if a class of snapshots or a
 * report of free space names it.
 */
export function inventedClasses(objects: readonly KubeObject[]): KubeObject[] {
  const classes = ofKind<StorageClass>(objects, 'StorageClass');
  const bySnapshots = ofKind<KubeObject & { driver?: string }>(objects, 'VolumeSnapshotClass').map(
    ({ driver }) => driver,
  );
  const measured = new Set(
    ofKind<KubeObject & { storageClassName?: string }>(objects, 'CSIStorageCapacity').map(
      ({ storageClassName }) => storageClassName,
    ),
  );
  const drivers = classes
    .filter(({ provisioner, metadata }) => bySnapshots.includes(provisioner) || measured.has(metadata.name))
    .map(({ provisioner }) => provisioner);
  return [...new Set(drivers)].map((name) => ({
    apiVersion: 'storage.k8s.io/v1',
    kind: 'CSIDriver',
    metadata: { name },
    spec: { attachRequired: true, volumeLifecycleModes: ['Persistent'] },
  }));
}

export const ofKind = <T extends KubeObject>(objects: readonly KubeObject[], kind: string): T[] =>
  objects.filter((object) => object.kind === kind) as T[];
