import type { DiskRestoreTarget } from '@headgate/domain-contracts';
import type { DomainDescription } from '../domain-xml/domain-description.js';
import type { OwnedVolume } from '../domain-xml/instance-metadata.js';

type Attempt = Pick<DiskRestoreTarget, 'id' | 'uid'>;

/** In the names of all volumes of an attempt, and of no other. */
const partOf = ({ id, uid }: Attempt): string => `-${uid.slice(0, 8)}-${id.slice(0, 8)}-`;

/** The name of the volume for a disk. The names of disks come from a backup. */
export const volumeOf = (attempt: Attempt, vm: string, disk: string, format: 'qcow2' | 'raw'): string =>
  `${vm}${partOf(attempt)}${disk.replace(/[^A-Za-z0-9-]/g, '_')}.${format === 'qcow2' ? 'qcow2' : 'img'}`;

export const variablesOf = (attempt: Attempt, vm: string): string => `${vm}${partOf(attempt)}nvram.fd`;

/** The volumes of an attempt, those of disks first. */
export function volumesOfAttempt(
  { metadata }: DomainDescription,
  attempt: Attempt,
): { readonly disks: readonly OwnedVolume[]; readonly variables?: OwnedVolume } {
  if (metadata.owner !== attempt.uid) return { disks: [] };
  const all = metadata.volumes.filter(({ name }) => name.includes(partOf(attempt)));
  const variables = all.find(({ role }) => role === 'nvram');
  return { disks: all.filter((volume) => volume !== variables), ...(variables && { variables }) };
}
