import { formatBytes } from '@headgate/domain-contracts';
import type { ContextCheck } from '@headgate/doctor';
import type { Readiness } from '../platform/readiness.js';

/**
 * Times the required space: below it, the disk is about to be full. The alert RegistryDiskIsFilling has the same bound.
 */
const LOW_SPACE = 16;

/**
 * The doctor's check of the disk that holds the registry. It is about the machine of the service, which is no context.
 */
export function checkRegistryDisk({ registryDisk }: Pick<Readiness, 'registryDisk'>): ContextCheck {
  const { freeBytes, requiredBytes, folder } = registryDisk;
  const check = { name: 'registry-disk', context: 'service/registry', fixable: false };
  const disk = `The disk of the registry, which holds ${folder}, has`;
  if (freeBytes >= LOW_SPACE * requiredBytes)
    return { ...check, status: 'ok', message: `${disk} enough free space.`, remedy: '' };
  const free = `${disk} ${formatBytes(freeBytes)} free`;
  const remedy = 'Delete files on this disk, enlarge it, or move the data directory to a larger one.';
  if (freeBytes >= requiredBytes)
    return {
      ...check,
      title: 'The disk of the registry is almost full',
      status: 'warning',
      message: `${free}. With less than ${formatBytes(requiredBytes)}, changes are refused.`,
      remedy,
    };
  return {
    ...check,
    title: 'The disk of the registry is full',
    status: 'error',
    message: `${free}. Changes are refused until it has ${formatBytes(requiredBytes)}, because they could not be recorded.`,
    remedy,
  };
}
