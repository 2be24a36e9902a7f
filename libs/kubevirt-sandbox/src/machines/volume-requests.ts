import type { AddVolumeOptions, VirtualMachine, VolumeRequest } from '../types/virtual-machine.js';
import type { VmiSpec } from '../types/virtual-machine-instance.js';

/** Adds a volume and its disk to a spec, unless they exist already. */
export function addVolume(spec: VmiSpec, { name, disk, volumeSource }: AddVolumeOptions): void {
  spec.volumes ??= [];
  if (spec.volumes.some((volume) => volume.name === name)) return;
  const { dataVolume, persistentVolumeClaim } = volumeSource;
  spec.volumes.push({
    name,
    ...(dataVolume ? { dataVolume: { ...dataVolume, hotpluggable: true } } : {}),
    ...(persistentVolumeClaim ? { persistentVolumeClaim: { ...persistentVolumeClaim, hotpluggable: true } } : {}),
  });
  spec.domain.devices.disks = [...(spec.domain.devices.disks ?? []), { ...disk, name }];
}

export function removeVolume(spec: VmiSpec, name: string): void {
  spec.volumes = spec.volumes?.filter((volume) => volume.name !== name);
  spec.domain.devices.disks = spec.domain.devices.disks?.filter((disk) => disk.name !== name);
}

export function applyVolumeRequest(spec: VmiSpec, { addVolumeOptions, removeVolumeOptions }: VolumeRequest): void {
  if (addVolumeOptions) addVolume(spec, addVolumeOptions);
  if (removeVolumeOptions) removeVolume(spec, removeVolumeOptions.name);
}

export const volumeRequestsOf = (vm: VirtualMachine): readonly VolumeRequest[] => vm.status?.volumeRequests ?? [];
