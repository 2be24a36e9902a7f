import type { GuestDisk, GuestSpec, GuestVolume } from '../api/object-types.js';

export const claimNameOf = ({ dataVolume, persistentVolumeClaim }: GuestVolume): string | undefined =>
  dataVolume?.name ?? persistentVolumeClaim?.claimName;

export const disksOf = ({ domain }: GuestSpec): readonly GuestDisk[] => domain?.devices?.disks ?? [];

/** The disk with the lowest boot order, otherwise the first one that is not a CD-ROM. */
export function rootDiskOf(spec: GuestSpec): GuestDisk | undefined {
  const disks = disksOf(spec).filter(({ cdrom }) => cdrom === undefined);
  const ordered = disks.filter(({ bootOrder }) => bootOrder !== undefined);
  ordered.sort((a, b) => (a.bootOrder ?? 0) - (b.bootOrder ?? 0));
  return ordered[0] ?? disks[0];
}

/** Devices with a boot order, or else the disk that the firmware tries first. */
export function bootOrderOf(spec: GuestSpec): string[] {
  const devices = [...disksOf(spec), ...(spec.domain?.devices?.interfaces ?? [])];
  const ordered = devices.filter(({ bootOrder }) => bootOrder !== undefined);
  if (ordered.length > 0) {
    return ordered.sort((a, b) => (a.bootOrder ?? 0) - (b.bootOrder ?? 0)).map(({ name }) => name);
  }
  const root = rootDiskOf(spec);
  return root ? [root.name] : [];
}

/** The networks by the names of their interfaces, as the API names them. */
export const networkName = (spec: GuestSpec, nic: string): string => {
  const network = spec.networks?.find(({ name }) => name === nic);
  return network?.multus?.networkName ?? (network?.pod ? 'pod' : '');
};
