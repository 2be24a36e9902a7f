import { quantityValue } from '../../quantity.js';
import { RESOURCES } from '../../resources.js';
import type { PersistentVolumeClaim } from '../../types/core-kinds.js';
import type { VirtualMachineInstance, Volume, VolumeStatus } from '../../types/virtual-machine-instance.js';
import type { SimulationContext } from '../../simulation-context.js';
import { isHotplugged } from '../../machines/live-update.js';
import { claimNameOf } from '../../machines/volume-snapshot-statuses.js';

const CLOUD_INIT_BYTES = 1_048_576;
const PREFIX: Record<string, string> = { virtio: 'vd', sata: 'sd', scsi: 'sd', usb: 'sd' };

/** `vda`, `sda` …: the guest's name of each disk, by bus and order. */
export function diskTargets({ spec }: VirtualMachineInstance): Map<string, string> {
  const counts = new Map<string, number>();
  return new Map(
    (spec.domain.devices.disks ?? []).map((disk) => {
      const bus = disk.disk?.bus ?? disk.cdrom?.bus ?? disk.lun?.bus ?? 'sata';
      const prefix = PREFIX[bus] ?? 'sd';
      const index = counts.get(prefix) ?? 0;
      counts.set(prefix, index + 1);
      return [disk.name, `${prefix}${String.fromCharCode(97 + index)}`];
    }),
  );
}

/** The part of `status.volumeStatus` that describes a claim. */
export function claimInfo(claim: PersistentVolumeClaim): NonNullable<VolumeStatus['persistentVolumeClaimInfo']> {
  const request = claim.spec.resources?.requests?.storage;
  return {
    claimName: claim.metadata.name,
    accessModes: claim.spec.accessModes,
    volumeMode: claim.spec.volumeMode ?? 'Filesystem',
    capacity: claim.status?.capacity,
    requests: request === undefined ? {} : { storage: String(quantityValue(request)) },
    filesystemOverhead: claim.spec.volumeMode === 'Block' ? '0' : '0.055',
  };
}

/** The entry of a volume that is attached from the start. */
export function bootVolumeStatus(
  context: SimulationContext,
  vmi: VirtualMachineInstance,
  volume: Volume,
  target: string,
): VolumeStatus {
  const name = claimNameOf(volume);
  const claim = name && context.find<PersistentVolumeClaim>(RESOURCES.claim, vmi.metadata.namespace, name);
  return {
    name: volume.name,
    target,
    ...(claim ? { persistentVolumeClaimInfo: claimInfo(claim) } : {}),
    ...(volume.cloudInitNoCloud || volume.cloudInitConfigDrive ? { size: CLOUD_INIT_BYTES } : {}),
  };
}

export const hotplugVolumes = ({ spec }: VirtualMachineInstance): Volume[] => (spec.volumes ?? []).filter(isHotplugged);

export const bootVolumes = ({ spec }: VirtualMachineInstance): Volume[] =>
  (spec.volumes ?? []).filter((volume) => !isHotplugged(volume));
