import {
  BACKUP_CONSISTENCIES,
  DomainError,
  FIRMWARES,
  type BackupConsistency,
  type Loss,
  type PortableVm,
} from '@headgate/domain-contracts';

const FORMAT = 1;
const MAX_BYTES = 16 * 1024 ** 2;

/** Everything that builds the VM of a point again, next to its disks. */
export interface Manifest {
  readonly format: typeof FORMAT;
  readonly ref: string;
  readonly uid: string;
  /** ISO 8601. */
  readonly time: string;
  readonly consistency: BackupConsistency;
  readonly folder?: string;
  /** Its cloud-init is a secret. */
  readonly vm: PortableVm;
  readonly losses: readonly Loss[];
  readonly hasFirmwareVariables: boolean;
}

export const newManifest = (content: Omit<Manifest, 'format'>): Manifest => ({ format: FORMAT, ...content });

export const formatManifest = (manifest: Manifest): Buffer => Buffer.from(JSON.stringify(manifest, undefined, 2));

/** @throws DomainError BACKEND_FAILED for a manifest of another program or release */
export function parseManifest(content: Buffer): Manifest {
  const fail = (reason: string): never => {
    throw new DomainError('BACKEND_FAILED', `The manifest of the backup can't be used: ${reason}.`);
  };
  if (content.length > MAX_BYTES) fail('it is too large');
  let manifest: Partial<Manifest> | null = null;
  try {
    manifest = JSON.parse(content.toString('utf8')) as Partial<Manifest> | null;
  } catch {
    return fail('it is no JSON');
  }
  if (typeof manifest !== 'object' || manifest === null) return fail('it is no object');
  if (manifest.format !== FORMAT) return fail('it was written by a newer release');
  const { vm, consistency } = manifest;
  if (!BACKUP_CONSISTENCIES.some((one) => one === consistency)) return fail('consistency is unknown');
  if (typeof vm !== 'object' || !Array.isArray(vm.disks) || !Array.isArray(vm.nics) || !Array.isArray(vm.tags))
    return fail('vm is incomplete');
  const isSize = (value: unknown): boolean => Number.isSafeInteger(value) && (value as number) > 0;
  if (!isSize(vm.cpu) || !isSize(vm.memoryBytes)) return fail('vm.cpu or vm.memoryBytes is no size');
  if (!FIRMWARES.some((one) => one === vm.firmware)) return fail('vm.firmware is unknown');
  if (!vm.disks.every(({ name, sizeBytes }) => typeof name === 'string' && isSize(sizeBytes)))
    return fail('vm.disks has a disk without a name or a size');
  return manifest as Manifest;
}
