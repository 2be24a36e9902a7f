import { createHash } from 'node:crypto';
import type { HardwareEffect, PlanStep } from '@headgate/domain-contracts';
import type { JsonPatchOperation } from '../../api/json-patch.js';
import type { GuestDisk, GuestVolume, VmObject } from '../../api/object-types.js';
import { ANNOTATION } from '../../labels.js';
import { awaitsRestart } from '../live-changes.js';
import { replaceIfSame, VM_PATHS } from '../planned-change.js';
import { uidTest } from '../scale.js';
import type { VmState } from '../vm-hardware.js';

/** How a cluster adds volumes to running VMs: by requests, by editing the VM, or not at all. */
export type HotplugMode = 'requests' | 'declarative' | 'none';

/** How a volume is added to a VM. */
export interface Attachment {
  readonly effect: HardwareEffect;
  readonly patch: readonly JsonPatchOperation[];
  /** The request, where the cluster adds volumes by requests. */
  readonly request?: object;
  readonly warnings: readonly string[];
}

export function modeOf(state: VmState): HotplugMode {
  const { facts } = state;
  if (facts.isGateEnabled('HotplugVolumes')) return 'requests';
  if (!facts.isAtLeast(1, 6) || !facts.isGateEnabled('DeclarativeHotplugVolumes')) return 'none';
  return isHeldByMove(state) ? 'none' : 'declarative';
}

const STRATEGY_PATH = '/spec/updateVolumesStrategy';

/**
 * Whether KubeVirt adds no volumes to the running VM because one of its disks was moved since its start: the strategy
 * of a move stays until then, as KubeVirt would require a restart without it.
 */
export const isHeldByMove = ({ vm, vmi }: VmState): boolean =>
  vm.spec?.updateVolumesStrategy === 'Migration' &&
  vmi !== undefined &&
  (vm.metadata.annotations?.[ANNOTATION.movedDuring] ?? vmi.metadata.uid) === vmi.metadata.uid;

/** Removes the strategy of an earlier move, with which KubeVirt adds and removes no volumes. */
export const releaseStrategy = (state: VmState): JsonPatchOperation[] =>
  state.vm.spec?.updateVolumesStrategy === 'Migration' && !isHeldByMove(state)
    ? [
        { op: 'test', path: STRATEGY_PATH, value: 'Migration' },
        { op: 'remove', path: STRATEGY_PATH },
      ]
    : [];

/** Whether the running guest gets and releases volumes now, and not only at its next start. */
export function isPluggedLive(state: VmState): boolean {
  const mode = modeOf(state);
  return state.vmi !== undefined && mode !== 'none' && (mode === 'requests' || !awaitsRestart(state));
}

const NO_HOTPLUG = 'Disks can not be added to running VMs in this cluster.';
const AFTER_MOVE =
  'A disk of the VM was moved while it ran, and KubeVirt adds no disks to it until it is started again.';
const BEFORE_RESTART = 'The VM has changes that wait for a restart, and KubeVirt applies no others until then.';

/** SCSI disks can be added to running guests on every release. The guest finds the disk by its serial number. */
export function attachment(state: VmState, volume: GuestVolume): Attachment {
  const { spec, vm, vmi } = state;
  const mode = modeOf(state);
  const { name } = volume;
  const disk = { name, disk: { bus: 'scsi' }, serial: createHash('sha256').update(name).digest('hex').slice(0, 20) };
  const hotpluggable = mode === 'none' ? {} : { hotpluggable: true };
  const source: GuestVolume = {
    name,
    ...(volume.dataVolume && { dataVolume: { ...volume.dataVolume, ...hotpluggable } }),
    ...(volume.persistentVolumeClaim && {
      persistentVolumeClaim: { ...volume.persistentVolumeClaim, ...hotpluggable },
    }),
  };
  const disks: readonly GuestDisk[] | undefined = spec.domain?.devices?.disks;
  const patch = [
    uidTest(vm.metadata.uid),
    ...releaseStrategy(state),
    ...replaceIfSame(VM_PATHS.volumes, spec.volumes, [...(spec.volumes ?? []), source]),
    ...replaceIfSame(VM_PATHS.disks, disks, [...(disks ?? []), disk]),
  ];
  const { name: _name, ...volumeSource } = source;
  const isLive = isPluggedLive(state);
  const obstacle = isHeldByMove(state) ? AFTER_MOVE : mode === 'none' ? NO_HOTPLUG : BEFORE_RESTART;
  return {
    effect: isLive ? 'now' : 'next-start',
    patch,
    ...(mode === 'requests' && { request: { name, disk, volumeSource } }),
    warnings: vmi && !isLive ? [`${obstacle} It appears at the next start.`] : [],
  };
}

export const attachStep = ({ ref }: VmState, { effect }: Attachment, volume: string): PlanStep => ({
  name: 'attach',
  detail: `Attach ${volume} to ${ref.name}${effect === 'now' ? ', immediately' : ''}.`,
});

export const hasVolume = ({ spec }: VmObject, name: string): boolean =>
  spec?.template?.spec?.volumes?.some((volume) => volume.name === name) === true;

export const without = <T extends { readonly name: string }>(list: readonly T[] | undefined, name: string): T[] =>
  (list ?? []).filter((one) => one.name !== name);
