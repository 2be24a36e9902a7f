import type { JsonObject } from '@headgate/domain-contracts';
import type { OwnerReference } from '../api/kube-object.js';
import { LABEL } from '../labels.js';

/** Limit of user data inside the VM object. Source: KubeVirt's documentation of cloud-init volumes. */
const INLINE_LIMIT_BYTES = 2048;
/** Limit of a Secret, 1 MiB, minus some space for its metadata. Source: Kubernetes' documentation of Secrets. */
export const SECRET_LIMIT_BYTES = 1024 ** 2 - 1024;

export const fitsInline = (userData: string): boolean => Buffer.byteLength(userData) <= INLINE_LIMIT_BYTES;

export const cloudInitInline = (userData: string): JsonObject => ({ cloudInitNoCloud: { userData } });

export const cloudInitFromSecret = (name: string): JsonObject => ({ cloudInitNoCloud: { secretRef: { name } } });

/** A Secret that the VM owns, so that the cluster deletes it with the VM. */
export const cloudInitSecret = (
  { namespace, vm, name, userData }: { namespace: string; vm: string; name: string; userData: string },
  owner: OwnerReference,
): JsonObject => ({
  metadata: { name, namespace, labels: { [LABEL.vm]: vm }, ownerReferences: [owner as unknown as JsonObject] },
  type: 'Opaque',
  data: { userdata: Buffer.from(userData).toString('base64') },
});
