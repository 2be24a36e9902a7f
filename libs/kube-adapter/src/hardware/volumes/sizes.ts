import { DISK_RULE, formatBytes, refusal, type Refusal } from '@headgate/domain-contracts';

/** The next size that a disk may have. */
export const roundUp = (bytes: number): number => Math.ceil(bytes / DISK_RULE.stepBytes) * DISK_RULE.stepBytes;

/** Why no disk can have this size. */
export function sizeRefusals(bytes: number): Refusal[] {
  const { minBytes, maxBytes } = DISK_RULE;
  if (Number.isSafeInteger(bytes) && bytes >= minBytes && bytes <= maxBytes) return [];
  const limits = `from ${formatBytes(minBytes)} to ${formatBytes(maxBytes)}`;
  return [refusal('INVALID_QUANTITY', `size must be ${limits}.`, 'Choose another size.')];
}
