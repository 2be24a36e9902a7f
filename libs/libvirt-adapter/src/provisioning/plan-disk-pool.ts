import type { VmSpec } from '@headgate/domain-contracts';
import type { StoragePool } from '../storage/storage-pool.js';
import type { Refuse } from './plan-source.js';

/** The pool of the boot disk. After a refusal it is the pool of the service, so that the other checks still run. */
export async function planDiskPool(
  { source, storageClass }: Pick<VmSpec, 'source' | 'storageClass'>,
  own: StoragePool,
  refuse: Refuse,
): Promise<StoragePool> {
  if (storageClass === undefined) return own;
  if (source.kind === 'pvc') {
    refuse(
      'NOT_SUPPORTED',
      `storageClass: the volume ${source.claim} exists already.`,
      'Omit storageClass, or choose another source.',
    );
    return own;
  }
  const found = await own.other(storageClass);
  if (!('code' in found)) return found;
  const code = found.code === 'VOLUME_NOT_FOUND' ? 'INVALID_INPUT' : found.code;
  refuse(code, `storageClass: ${found.reason}`, found.remedy);
  return own;
}
