import type { IngestTarget } from '@headgate/domain-contracts';

/** Everything of a VM that is received has a name with this beginning. */
export const baseName = ({ id, ref }: IngestTarget): string => `${ref.name}-${id.slice(0, 8)}`;

/** Names of disks come from another backend. */
export const volumeName = (target: IngestTarget, disk: string): string =>
  `${baseName(target)}-${disk.replace(/[^A-Za-z0-9-]/g, '_')}.qcow2`;
