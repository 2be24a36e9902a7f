import {
  deviceNotFound,
  isKubernetesName,
  noChange,
  refusal,
  refusedChange,
  type ChangeMediumChange,
} from '@headgate/domain-contracts';
import type { ClaimObject } from '../../api/object-types.js';
import { CLAIMS, VIRTUAL_MACHINES } from '../../api/resources.js';
import { claimUser } from '../../provisioning/create-checks.js';
import { awaitsRestart, untilCompared } from '../live-changes.js';
import { planned, replaceIfSame, VM_PATHS, type PlannedPatch } from '../planned-change.js';
import { uidTest } from '../scale.js';
import { claimNameOf, isHotpluggable, type HardwareDeps, type VmState } from '../vm-hardware.js';
import { isHeldByMove, modeOf, releaseStrategy, without } from './hotplug.js';

/** Inserts a medium into a drive of a VM, or ejects it. */
export class ChangeMedium {
  constructor(private readonly deps: HardwareDeps) {}

  /** A drive is a CD-ROM disk; its medium is the volume of the same name. */
  async plan(state: VmState, { drive, volume }: ChangeMediumChange): Promise<PlannedPatch> {
    const { ref, spec, vmi, vm } = state;
    const drives = (spec.domain?.devices?.disks ?? []).filter(({ cdrom }) => cdrom !== undefined);
    if (!drives.some(({ name }) => name === drive)) {
      const present = drives.map(({ name }) => name);
      const { message } = deviceNotFound(ref.name, `drive ${drive}`, present);
      return refusedChange(refusal('DEVICE_NOT_FOUND', message, 'Name one of its drives.'));
    }
    if (isHeldByMove(state)) {
      const reason = `A disk of ${ref.name} was moved while it ran, and KubeVirt changes no media until it is started again.`;
      return refusedChange(refusal('WRONG_STATE', reason, 'Restart the VM first.'));
    }
    if (modeOf(state) !== 'declarative') {
      const reason = 'Changing the medium of a drive needs KubeVirt 1.9 or the feature gate DeclarativeHotplugVolumes.';
      return refusedChange(refusal('NOT_SUPPORTED', reason, 'Update KubeVirt.'));
    }
    const before = spec.volumes?.find(({ name }) => name === drive);
    if ((before && claimNameOf(before)) === (volume ?? undefined) && (volume !== null || !before)) return noChange;
    if (vm.spec?.dataVolumeTemplates?.some(({ metadata }) => before && metadata.name === claimNameOf(before))) {
      const reason = `The medium in ${drive} was created with ${ref.name} and belongs to it.`;
      return refusedChange(refusal('WRONG_STATE', reason, 'Delete the VM instead.'));
    }
    const claim =
      volume !== null && isKubernetesName(volume)
        ? await this.deps.api.find<ClaimObject>(CLAIMS, { namespace: ref.namespace, name: volume })
        : undefined;
    if (volume !== null && !claim) {
      const reason = `There is no PVC ${volume} in ${ref.namespace}.`;
      return refusedChange(refusal('VOLUME_NOT_FOUND', reason, 'Name a claim in the namespace of the VM.'));
    }
    const user = claim && (await claimUser(this.deps.api, claim));
    if (user !== undefined)
      return refusedChange(refusal('BUSY', `The PVC ${volume} is used by ${user}.`, 'Name another claim.'));
    const others = without(spec.volumes, drive);
    const medium = { name: drive, persistentVolumeClaim: { claimName: volume ?? '', hotpluggable: true } };
    const patch = [
      uidTest(vm.metadata.uid),
      ...releaseStrategy(state),
      ...replaceIfSame(VM_PATHS.volumes, spec.volumes, volume === null ? others : [...others, medium]),
    ];
    const live = vmi?.spec?.volumes?.find(({ name }) => name === drive);
    const isLive = vmi !== undefined && (!live || isHotpluggable(live)) && !awaitsRestart(state);
    const run = async (): Promise<void> => {
      await this.deps.api.jsonPatch(VIRTUAL_MACHINES, ref, patch);
      if (vmi && !isLive) await untilCompared(this.deps, ref);
    };
    const detail = volume === null ? `The medium in ${drive}.` : `PVC ${volume} into ${drive}.`;
    const step = { name: volume === null ? 'eject' : 'insert', detail };
    return planned({ effect: isLive ? 'now' : 'next-start', steps: [step], patch, run });
  }
}
