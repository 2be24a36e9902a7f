import { apiError, fieldForbidden, invalid } from '@headgate/kube-sandbox';
import { defaultStorageClass } from '../storage-classes/default-storage-class.js';
import { quantityValue } from '../quantity.js';
import { RESOURCES } from '../resources.js';
import type { PersistentVolumeClaim, StorageClass } from '../types/core-kinds.js';
import type { SimulationContext } from '../simulation-context.js';
import { refuseOverQuota } from './claim-quota.js';

/** Fills in the default class of claims, and decides which claims may be expanded. */
export function admitClaims(context: SimulationContext): void {
  context.admission.addMutating<PersistentVolumeClaim>({
    name: 'DefaultStorageClass',
    resources: [RESOURCES.claim],
    operations: ['CREATE'],
    admit: ({ object }) => {
      if (!object.spec) return;
      const fallback = object.spec.storageClassName === undefined ? defaultStorageClass(context) : undefined;
      if (fallback) object.spec.storageClassName = fallback.metadata.name;
      object.metadata.finalizers = [...(object.metadata.finalizers ?? []), 'kubernetes.io/pvc-protection'];
    },
  });
  context.admission.addValidating<PersistentVolumeClaim>({
    name: 'ResourceQuota',
    resources: [RESOURCES.claim],
    operations: ['CREATE'],
    admit: ({ object }) => refuseOverQuota(context, object),
  });
  context.admission.addValidating<PersistentVolumeClaim>({
    name: 'PersistentVolumeClaimResize',
    resources: [RESOURCES.claim],
    operations: ['UPDATE'],
    admit: ({ object, oldObject, name }) => {
      const wanted = quantityValue(object.spec?.resources?.requests?.storage);
      const present = quantityValue(oldObject?.spec.resources?.requests?.storage);
      if (!oldObject || wanted === present || Number.isNaN(wanted)) return;
      refuseResize(context, object, oldObject, name, wanted);
    },
  });
}

function refuseResize(
  context: SimulationContext,
  claim: PersistentVolumeClaim,
  old: PersistentVolumeClaim,
  name: string,
  wanted: number,
): void {
  if (wanted < quantityValue(old.status?.capacity?.storage ?? old.spec.resources?.requests?.storage)) {
    const field = 'spec.resources.requests.storage';
    throw invalid('PersistentVolumeClaim', '', name, [
      fieldForbidden(field, 'field can not be less than status.capacity'),
    ]);
  }
  const className = claim.spec.storageClassName;
  const storageClass = className ? context.find<StorageClass>(RESOURCES.storageClass, undefined, className) : undefined;
  if (storageClass?.allowVolumeExpansion) return;
  throw apiError(
    403,
    'Forbidden',
    `persistentvolumeclaims "${name}" is forbidden: only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize`,
    { name, kind: 'persistentvolumeclaims' },
  );
}
