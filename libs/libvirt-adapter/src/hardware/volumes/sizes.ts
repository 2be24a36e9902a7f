import { DISK_RULE, formatBytes, refusal, type Refusal } from '@headgate/domain-contracts';
import { POOL_FLOOR_BYTES } from '../../storage/pool-space.js';
import type { StoragePool } from '../../storage/storage-pool.js';

/** The next size that a disk may have. */
export const roundUp = (bytes: number): number => Math.ceil(bytes / DISK_RULE.stepBytes) * DISK_RULE.stepBytes;

/** Why no disk of a storage pool can have this size. */
export async function sizeRefusals(pool: StoragePool, bytes: number): Promise<Refusal[]> {
  const { minBytes, maxBytes } = DISK_RULE;
  if (!Number.isSafeInteger(bytes) || bytes < minBytes || bytes > maxBytes) {
    const limits = `from ${formatBytes(minBytes)} to ${formatBytes(maxBytes)}`;
    return [refusal('INVALID_QUANTITY', `size must be ${limits}.`, 'Choose another size.')];
  }
  const space = await pool.space();
  if (space?.isActive && space.availableBytes < POOL_FLOOR_BYTES)
    return [
      refusal(
        'INSUFFICIENT_STORAGE',
        `The storage pool ${pool.name} has only ${formatBytes(space.availableBytes)} free.`,
        'Free some space on this machine.',
      ),
    ];
  if (!space || space.capacityBytes === 0 || bytes <= space.capacityBytes) return [];
  return [
    refusal(
      'INSUFFICIENT_STORAGE',
      `size: ${formatBytes(bytes)} is more than the whole storage pool ${pool.name}, which has ${formatBytes(space.capacityBytes)}.`,
      'Choose a smaller disk.',
    ),
  ];
}
