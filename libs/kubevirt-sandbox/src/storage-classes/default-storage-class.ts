import { RESOURCES } from '../resources.js';
import type { StorageClass } from '../types/core-kinds.js';
import type { SimulationContext } from '../simulation-context.js';

export const DEFAULT_CLASS = 'storageclass.kubernetes.io/is-default-class';
export const DEFAULT_VIRT_CLASS = 'storageclass.kubevirt.io/is-default-virt-class';

/** The class of claims that name none; of several defaults the newest. */
export const defaultStorageClass = (context: SimulationContext): StorageClass | undefined =>
  annotated(context, DEFAULT_CLASS);

/** The class of VM disks that name none. */
export const defaultVirtClass = (context: SimulationContext): StorageClass | undefined =>
  annotated(context, DEFAULT_VIRT_CLASS) ?? defaultStorageClass(context);

const annotated = (context: SimulationContext, annotation: string): StorageClass | undefined =>
  context.store
    .list<StorageClass>(RESOURCES.storageClass, {
      where: ({ metadata }) => metadata.annotations?.[annotation] === 'true',
    })
    .sort((a, b) => (b.metadata.creationTimestamp ?? '').localeCompare(a.metadata.creationTimestamp ?? ''))[0];
