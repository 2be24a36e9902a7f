import type { JsonObject } from '@headgate/domain-contracts';
import { LABEL } from '../labels.js';
import type { OwnerReference } from '../api/kube-object.js';

/** KubeVirt takes no more than this inside the VM object. Source: its cloud-init volume documentation. */
const INLINE_LIMIT_BYTES = 2048;
/** A Secret holds no more than 1 MiB. Source: Kubernetes' documentation of Secrets. */
export const SECRET_LIMIT_BYTES = 1024 ** 2 - 1024;

export const fitsInline = (userData: string): boolean => Buffer.byteLength(userData) <= INLINE_LIMIT_BYTES;

export const cloudInitInline = (userData: string): JsonObject => ({ cloudInitNoCloud: { userData } });

export const cloudInitFromSecret = (name: string): JsonObject => ({ cloudInitNoCloud: { secretRef: { name } } });

/** The Secret goes when its VM goes, whoever deletes the VM. */
export const cloudInitSecret = (
  { namespace, vm, name, userData }: { namespace: string; vm: string; name: string; userData: string },
  owner: OwnerReference,
): JsonObject => ({
  metadata: { name, namespace, labels: { [LABEL.vm]: vm }, ownerReferences: [owner as unknown as JsonObject] },
  type: 'Opaque',
  data: { userdata: Buffer.from(userData).toString('base64') },
});
