import type { GuestVolume, VmObject } from '../api/object-types.js';
import { ANNOTATION } from '../labels.js';
import { bytesOf } from './guest-size.js';

/** The claim that holds the boot disk, and the size that the VM object gives it. */
export interface BootDisk {
  /** Name of the PersistentVolumeClaim; a DataVolume's claim has the DataVolume's name. */
  readonly claim?: string;
  /** The requested size; absent for a volume that existed before. */
  readonly requestedBytes?: number;
  /** The guest loses its changes at power-off. */
  readonly isVolatile: boolean;
}

/**
 * CDI reserves 5.5 % for the file system by default, 6 % since 1.63. A claim that is larger by this factor at most was
 * not expanded.
 */
const OVERHEAD_LIMIT = 1.07;

export function bootDiskOf(vm: VmObject): BootDisk {
  const volume = bootVolume(vm);
  const claim = volume?.dataVolume?.name ?? volume?.persistentVolumeClaim?.claimName;
  const template = vm.spec?.dataVolumeTemplates?.find(({ metadata }) => metadata.name === claim);
  const storage = template?.spec?.storage ?? template?.spec?.pvc;
  const requestedBytes = bytesOf(
    storage?.resources?.requests?.storage ??
      volume?.emptyDisk?.capacity ??
      vm.metadata.annotations?.[ANNOTATION.diskBytes],
  );
  return { claim, requestedBytes, isVolatile: volume?.containerDisk !== undefined || volume?.ephemeral !== undefined };
}

/** The disk's size as the guest sees it: the requested size, or the claim's size after it was expanded. */
export function bootDiskBytes({ requestedBytes }: BootDisk, claimBytes: number | undefined): number {
  if (claimBytes === undefined) return requestedBytes ?? 0;
  if (requestedBytes !== undefined && claimBytes >= requestedBytes && claimBytes <= requestedBytes * OVERHEAD_LIMIT) {
    return requestedBytes;
  }
  return claimBytes;
}

/** The disk with the lowest boot order, otherwise the first one that is not a CD-ROM. */
function bootVolume(vm: VmObject): GuestVolume | undefined {
  const spec = vm.spec?.template?.spec;
  const disks = (spec?.domain?.devices?.disks ?? []).filter(({ cdrom }) => cdrom === undefined);
  const ordered = disks.filter(({ bootOrder }) => bootOrder !== undefined);
  ordered.sort((a, b) => (a.bootOrder ?? 0) - (b.bootOrder ?? 0));
  const name = (ordered[0] ?? disks[0])?.name;
  return spec?.volumes?.find((volume) => volume.name === name) ?? spec?.volumes?.[0];
}
