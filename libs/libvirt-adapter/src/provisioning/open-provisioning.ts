import type { LibvirtEngine } from '../engine/libvirt-engine.js';
import type { ImportedBases } from '../images/imported-bases.js';
import { findVolume } from '../storage/find-volume.js';
import { BootDiskBuilder } from './boot-disk-builder.js';
import { LibvirtProvisioning } from './libvirt-provisioning.js';
import { sharedBuild } from './local-image.js';

interface ProvisioningParts {
  readonly imported: ImportedBases;
  /** Builds the local image and returns its path; absent where there is none. */
  readonly tinyGuest?: () => Promise<string>;
}

export function openProvisioning(
  engine: LibvirtEngine,
  { imported, tinyGuest }: ProvisioningParts,
): LibvirtProvisioning {
  const { connection, pool, downloads, readUsage, clock } = engine;
  const localImage = tinyGuest && sharedBuild(tinyGuest, clock);
  return new LibvirtProvisioning({
    ...engine,
    imported,
    disks: new BootDiskBuilder({ ...engine, imported, tinyGuest: localImage?.path }),
    egress: downloads.http.egress,
    hasSpaceForDownloads: () => downloads.space.isAvailable(),
    hasTinyGuest: localImage !== undefined,
    isTinyGuestBuilt: localImage?.isBuilt ?? (() => Promise.resolve(false)),
    findClaim: (claim) => findVolume(connection, claim, pool.name),
    usersOf: async (path) => (await readUsage()).usersOf(path),
  });
}
