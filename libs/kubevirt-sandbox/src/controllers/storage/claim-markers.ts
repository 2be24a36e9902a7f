import type { PersistentVolumeClaim } from '../../types/core-kinds.js';

export const PVC_PROTECTION = 'kubernetes.io/pvc-protection';
export const SELECTED_NODE = 'volume.kubernetes.io/selected-node';
export const BIND_IMMEDIATELY = 'cdi.kubevirt.io/storage.bind.immediate.requested';
export const CDI_GROUP = 'cdi.kubevirt.io';

/** Whether one of CDI's populators fills the claim; until it has, the claim stays Pending. */
export const isPopulated = ({ spec }: PersistentVolumeClaim): boolean => spec.dataSourceRef?.apiGroup === CDI_GROUP;
