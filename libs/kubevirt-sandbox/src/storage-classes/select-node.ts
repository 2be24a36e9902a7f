import { RESOURCES } from '../resources.js';
import type { SimulationContext } from '../simulation-context.js';
import type { PersistentVolumeClaim, StorageClass } from '../types/core-kinds.js';

/** Gives storage that waits for its first consumer the consumer's node, as the scheduler would. */
export function selectNode(context: SimulationContext, claim: PersistentVolumeClaim, node: string | undefined): void {
  if (!node || claim.metadata.annotations?.['volume.kubernetes.io/selected-node']) return;
  const storageClass = context.find<StorageClass>(RESOURCES.storageClass, undefined, claim.spec.storageClassName ?? '');
  if (storageClass?.volumeBindingMode !== 'WaitForFirstConsumer') return;
  context.store.patch<PersistentVolumeClaim>(RESOURCES.claim, claim.metadata, ({ metadata }) => {
    metadata.annotations = { ...metadata.annotations, 'volume.kubernetes.io/selected-node': node };
  });
}
