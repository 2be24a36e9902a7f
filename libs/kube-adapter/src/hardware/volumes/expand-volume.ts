import {
  formatBytes,
  noChange,
  refusal,
  refusedChange,
  type ExpandVolumeChange,
  type HardwareEffect,
  type Refusal,
} from '@headgate/domain-contracts';
import type { ClaimObject } from '../../api/object-types.js';
import { CLAIMS, STORAGE_CLASSES } from '../../api/resources.js';
import { storageClasses, type StorageClassObject } from '../../cluster/storage-classes.js';
import { bytesOf } from '../../inventory/guest-size.js';
import { ANNOTATION } from '../../labels.js';
import { isRunning } from '../live-changes.js';
import { planned, type PlannedPatch } from '../planned-change.js';
import { claimBytes, type HardwareDeps, type VmState } from '../vm-hardware.js';
import { findVolume } from './find-volume.js';
import { roundUp, sizeRefusals } from './sizes.js';
import type { VolumeWaits } from './volume-waits.js';

/** Enlarges the claim of a disk. */
export class ExpandVolume {
  constructor(
    private readonly deps: HardwareDeps,
    private readonly waits: VolumeWaits,
  ) {}

  async plan(state: VmState, { volume, sizeBytes }: ExpandVolumeChange): Promise<PlannedPatch> {
    const { api } = this.deps;
    const { ref, facts } = state;
    const found = findVolume(state, volume);
    if ('code' in found) return refusedChange(found);
    const refusals = sizeRefusals(sizeBytes);
    if (refusals.length > 0) return refusedChange(...refusals);
    const { claim } = found;
    const path = { namespace: ref.namespace, name: claim ?? '' };
    const pvc = claim === undefined ? undefined : await api.find<ClaimObject>(CLAIMS, path);
    if (claim === undefined || !pvc) {
      const reason = `${volume} is not on a PVC, so it has no size to change.`;
      return refusedChange(refusal('NOT_SUPPORTED', reason, 'Expand a disk that is on a PVC.'));
    }
    const present = (await claimBytes(this.deps, ref, claim)) ?? 0;
    const bytes = roundUp(sizeBytes);
    if (bytes < present) {
      const reason = `size: ${volume} has ${formatBytes(present)}, and a disk can't shrink.`;
      return refusedChange(refusal('INVALID_QUANTITY', reason, `Use more than ${formatBytes(present)}.`));
    }
    if (bytes === present) return noChange;
    const blocked = await this.expansionRefusal(pvc, volume);
    if (blocked) return refusedChange(blocked);
    // A claim with a file system is larger than the disk in it by a constant factor.
    const claimed = bytesOf(pvc.spec?.resources?.requests?.storage) ?? present;
    const storage = formatBytes(roundUp(Math.ceil(bytes * Math.max(1, claimed / (present || claimed)))));
    const run = async (): Promise<void> => {
      await api.patch(CLAIMS, path, {
        metadata: { annotations: { [ANNOTATION.diskBytes]: String(bytes) } },
        spec: { resources: { requests: { storage } } },
      });
      if (isRunning(state)) await this.waits.untilExpanded(path, storage);
    };
    const isLive = state.vmi !== undefined && facts.isGateEnabled('ExpandDisks');
    const detail = `PVC ${claim} from ${formatBytes(present)} to ${formatBytes(bytes)}. The file systems in it are the guest's to grow.`;
    const effect: HardwareEffect = isLive ? 'now' : 'next-start';
    const warnings = state.vmi && !isLive ? ['The guest sees the new size when it is started the next time.'] : [];
    return planned({ effect, steps: [{ name: 'expand', detail }], warnings, run });
  }

  private async expansionRefusal({ spec, status }: ClaimObject, volume: string): Promise<Refusal | undefined> {
    const className = spec?.storageClassName;
    const found = className
      ? await this.deps.api.find<StorageClassObject>(STORAGE_CLASSES, { name: className })
      : undefined;
    if (found?.allowVolumeExpansion !== true) {
      const classes = (await storageClasses(this.deps.api)).filter((one) => one.allowVolumeExpansion);
      const others = classes.map(({ metadata }) => metadata.name).join(', ') || 'none';
      return refusal(
        'NOT_SUPPORTED',
        `The storage class ${className ?? '(none)'} of ${volume} does not permit expansion. Those that do: ${others}.`,
        'Set allowVolumeExpansion in the storage class.',
      );
    }
    if (status?.phase !== 'Bound') {
      return refusal(
        'WRONG_STATE',
        `${volume} is not bound to storage yet.`,
        'Start the VM once, then expand the disk.',
      );
    }
    return undefined;
  }
}
