import { isProofId } from '@headgate/domain-contracts';
import type { KubeObject } from './api/kube-object.js';
import { ANNOTATION, LABEL } from './labels.js';

/** The name of the VM of a proof. */
export const proofVmName = (id: string): string => `headgate-proof-${id}`;

/** Whether a VM belongs to a proof of any service. A VM of a user has another name, also with a copied label. */
export function isProofVm({ metadata: { name, labels, annotations } }: KubeObject): boolean {
  const id = labels?.[LABEL.proof];
  return (
    id !== undefined && isProofId(id) && name === proofVmName(id) && annotations?.[ANNOTATION.proofBeat] !== undefined
  );
}
