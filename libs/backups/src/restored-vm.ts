import type { PortableVm } from '@headgate/domain-contracts';
import { MANIFEST_PATH } from './backup-point.js';
import type { BackupStore } from './backup-store.js';
import { parseManifest, type Manifest } from './manifest.js';

/** @throws DomainError BACKUP_POINT_NOT_FOUND, BACKEND_FAILED */
export async function readManifest(store: BackupStore, point: string): Promise<Manifest> {
  const file = await store.openFile(point, MANIFEST_PATH);
  return parseManifest(await file.read(0, file.sizeBytes));
}

export interface RestoredAs {
  /** Whether the network cards have the addresses of the original. */
  readonly keepsMacs: boolean;
  readonly copiesFirmwareVariables: boolean;
}

/** The VM of a point, as a destination gets it. */
export function portableOf({ vm }: Manifest, { keepsMacs, copiesFirmwareVariables }: RestoredAs): PortableVm {
  const { firmwareVariables, ...rest } = vm;
  return {
    ...rest,
    // It would start next to its original.
    autostart: false,
    // No backup has the state of a TPM.
    hasTpmState: false,
    ...(copiesFirmwareVariables && firmwareVariables && { firmwareVariables }),
    nics: vm.nics.map((nic) => (keepsMacs ? nic : { ...nic, mac: '' })),
  };
}
