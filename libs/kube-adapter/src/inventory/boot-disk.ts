import { ANNOTATION } from '../labels.js';
import { bytesOf } from './guest-size.js';
import type { GuestVolume, VmObject } from './vm-object.js';

/** Which claim holds the boot disk, and how large the VM itself says that it is. */
export interface BootDisk {
  /** Name of the PersistentVolumeClaim; a DataVolume's has the DataVolume's name. */
  readonly claim?: string;
  /** Bytes as asked for in the VM; absent for a volume that was there before. */
  readonly askedBytes?: number;
}

/** File systems take 5.5 % by CDI's default; a claim that is larger by no more than this was grown for that, not by a person. */
const OVERHEAD_LIMIT = 1.07;

export function bootDiskOf(vm: VmObject): BootDisk {
  const volume = bootVolume(vm);
  const claim = volume?.dataVolume?.name ?? volume?.persistentVolumeClaim?.claimName;
  const template = vm.spec?.dataVolumeTemplates?.find(({ metadata }) => metadata.name === claim);
  const storage = template?.spec?.storage ?? template?.spec?.pvc;
  const asked = bytesOf(
    storage?.resources?.requests?.storage ??
      volume?.emptyDisk?.capacity ??
      vm.metadata.annotations?.[ANNOTATION.diskBytes],
  );
  return { claim, askedBytes: asked };
}

/** The disk's size as the guest's owner understands it: what was asked for, unless the claim was expanded since. */
export function diskBytes({ askedBytes }: BootDisk, claimBytes: number | undefined): number {
  if (claimBytes === undefined) return askedBytes ?? 0;
  if (askedBytes !== undefined && claimBytes >= askedBytes && claimBytes <= askedBytes * OVERHEAD_LIMIT)
    return askedBytes;
  return claimBytes;
}

/** The disk with the lowest boot order, otherwise the first that is no CD-ROM. */
function bootVolume(vm: VmObject): GuestVolume | undefined {
  const spec = vm.spec?.template?.spec;
  const disks = (spec?.domain?.devices?.disks ?? []).filter(({ cdrom }) => cdrom === undefined);
  const ordered = disks.filter(({ bootOrder }) => bootOrder !== undefined);
  ordered.sort((a, b) => (a.bootOrder ?? 0) - (b.bootOrder ?? 0));
  const name = (ordered[0] ?? disks[0])?.name;
  return spec?.volumes?.find((volume) => volume.name === name) ?? spec?.volumes?.[0];
}
