import { refusal, refusedChange, type DetachVolumeChange, type HardwareEffect } from '@headgate/domain-contracts';
import type { ClaimObject } from '../../api/object-types.js';
import { CLAIMS, DATA_VOLUMES } from '../../api/resources.js';
import { LABEL } from '../../labels.js';
import { untilCompared } from '../live-changes.js';
import { planned, type PlannedPatch } from '../planned-change.js';
import { findDataVolume, isHotpluggable, rootDiskOf, type HardwareDeps, type VmState } from '../vm-hardware.js';
import { findVolume } from './find-volume.js';
import { isPluggedLive } from './hotplug.js';
import type { Plugging } from './plugging.js';
import type { VolumeWaits } from './volume-waits.js';

/** Removes a disk from a VM, and its volume if that is requested. */
export class DetachVolume {
  constructor(
    private readonly deps: HardwareDeps,
    private readonly waits: VolumeWaits,
    private readonly plugging: Plugging,
  ) {}

  async plan(state: VmState, { volume, deleteVolume }: DetachVolumeChange): Promise<PlannedPatch> {
    const { api } = this.deps;
    const { ref, spec, vm, vmi } = state;
    const found = findVolume(state, volume);
    if ('code' in found) return refusedChange(found);
    const { disk, source, claim } = found;
    const refuse = (reason: string, remedy: string): PlannedPatch =>
      refusedChange(refusal('WRONG_STATE', reason, remedy));
    if (rootDiskOf(vmi?.spec ?? spec)?.name === disk || rootDiskOf(spec)?.name === disk) {
      return refuse(`${ref.name} boots from ${volume}, so it can't be detached.`, 'Delete the VM instead.');
    }
    if (vm.spec?.dataVolumeTemplates?.some(({ metadata }) => metadata.name === claim)) {
      return refuse(`${volume} was created with ${ref.name} and belongs to it.`, 'Delete the VM instead.');
    }
    const path = { namespace: ref.namespace, name: claim ?? '' };
    const [dataVolume, pvc] =
      claim === undefined ? [] : await Promise.all([findDataVolume(api, path), api.find<ClaimObject>(CLAIMS, path)]);
    const owner = dataVolume ?? pvc;
    const isOwn = owner?.metadata.labels?.[LABEL.vm] === ref.name;
    if (deleteVolume && !isOwn) {
      return refuse(
        `${volume} was not created for ${ref.name}, so it is not deleted with its disk.`,
        'Detach it without deleting it.',
      );
    }
    const isLive = isHotpluggable(source) && isPluggedLive(state);
    const effect: HardwareEffect = isLive ? 'now' : 'next-start';
    if (deleteVolume && vmi && !isLive) {
      return refuse(`${ref.name} uses ${volume} until it stops, so it can't be deleted.`, 'Stop the VM first.');
    }
    const steps = [
      { name: 'detach', detail: `${volume} from ${ref.name}${isLive ? ', when the guest releases it' : ''}.` },
      ...(deleteVolume ? [{ name: 'delete', detail: `${dataVolume ? 'DataVolume' : 'PVC'} ${claim}.` }] : []),
    ];
    const run = async (): Promise<void> => {
      const label = async (value: string | null): Promise<void> => {
        const change = { metadata: { labels: { [LABEL.vm]: value } } };
        if (dataVolume) await api.patch(DATA_VOLUMES, path, change);
        if (pvc) await api.patch(CLAIMS, path, change);
      };
      // A volume that is kept no longer belongs to the VM, and is not deleted with it.
      if (isOwn && !deleteVolume) await label(null);
      try {
        await this.plugging.unplug(state, disk);
        if (isLive) await this.waits.untilReleased(state, disk, volume);
        else if (vmi) await untilCompared(this.deps, ref);
      } catch (error) {
        if (isOwn && !deleteVolume) await label(ref.name).catch(() => undefined);
        throw error;
      }
      if (!deleteVolume || !owner) return;
      await api.delete(dataVolume ? DATA_VOLUMES : CLAIMS, path, { uid: owner.metadata.uid });
      await this.waits.untilGone(path);
    };
    const warnings = effect === 'next-start' && vmi ? ['The running VM keeps the disk until it is started again.'] : [];
    return planned({ effect, steps, warnings, run });
  }
}
