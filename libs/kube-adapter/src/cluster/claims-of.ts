import type { GuestSpec } from '../api/object-types.js';

/** The names of the claims that a guest has as disks. The claim of a DataVolume has its name. */
export const claimsOf = ({ volumes = [] }: GuestSpec): string[] =>
  volumes.flatMap(({ dataVolume, persistentVolumeClaim }) => {
    const name = dataVolume?.name ?? persistentVolumeClaim?.claimName;
    return name === undefined ? [] : [name];
  });
