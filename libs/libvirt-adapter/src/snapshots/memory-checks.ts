import { formatBytes, type Refusal } from '@headgate/domain-contracts';
import { SPACE_WATERMARK_BYTES } from '@headgate/downloads';
import type { PoolState } from '../connection/storage-operations.js';
import { element, elements } from '../xml/xml.js';
import type { EditableDomain } from '../domains/domain-editor.js';

/** Why the memory of a guest can't be saved. */
export function memoryRefusals(
  { description, isActive }: EditableDomain,
  others: readonly string[],
  space: PoolState | undefined,
): Refusal[] {
  const { name, disks, document, memoryBytes } = description;
  const refusals: Refusal[] = [];
  if (!isActive)
    refusals.push({
      code: 'WRONG_STATE',
      reason: `${name} is not running, so it has no memory that could be saved.`,
      remedy: 'Omit memory, or start it first.',
    });
  const devices = element(document, 'devices');
  if (elements(devices, 'hostdev').length > 0 || elements(devices, 'filesystem').length > 0)
    refusals.push({
      code: 'NOT_SUPPORTED',
      reason: `${name} uses a device or a folder of this machine, whose state can't be saved with its memory.`,
      remedy: 'Omit memory.',
    });
  // The restored guest would expect the disc, which is removed once the guest has read it.
  if (disks.some(({ target, device, path }) => device === 'disk' && path !== undefined && others.includes(target)))
    refusals.push({
      code: 'BUSY',
      reason: `${name} has not read its cloud-init disc yet, which can't be saved with its memory.`,
      remedy: 'Try again when the guest has started completely, or omit memory.',
    });
  if (space?.isActive === true && space.availableBytes < memoryBytes + SPACE_WATERMARK_BYTES)
    refusals.push({
      code: 'INSUFFICIENT_STORAGE',
      reason: `The memory of ${name} takes ${formatBytes(memoryBytes)}, and the storage pool has only ${formatBytes(space.availableBytes)} free.`,
      remedy: 'Free some space on this machine, or omit memory.',
    });
  return refusals;
}
