import type { InstanceRef } from '@headgate/domain-contracts';
import type { VmObject } from '../../api/object-types.js';
import { subresourcePath, VIRTUAL_MACHINES } from '../../api/resources.js';
import { observe, untilCompared } from '../live-changes.js';
import { replaceIfSame, VM_PATHS } from '../planned-change.js';
import { uidTest } from '../scale.js';
import { isHotpluggable, type HardwareDeps, type VmState } from '../vm-hardware.js';
import { hasVolume, modeOf, releaseStrategy, without, type Attachment } from './hotplug.js';
import type { VolumeWaits } from './volume-waits.js';

/** Adds volumes to VMs and removes them, also while they run. */
export class Plugging {
  constructor(
    private readonly deps: HardwareDeps,
    private readonly waits: VolumeWaits,
  ) {}

  /** Adds the volume to the VM, and waits until KubeVirt has added it to the running guest as well. */
  async plug(state: VmState, { patch, request, effect }: Attachment, name: string): Promise<void> {
    const { api } = this.deps;
    const { ref } = state;
    if (request) {
      const path = subresourcePath(ref.namespace, 'virtualmachines', ref.name, 'addvolume');
      await api.invoke(path, request, () => this.isRequested(ref, 'addVolumeOptions', name));
    } else await api.jsonPatch(VIRTUAL_MACHINES, ref, patch);
    if (!state.vmi) return request ? this.waits.untilVm(ref, (vm) => hasVolume(vm, name)) : undefined;
    if (effect !== 'now') return untilCompared(this.deps, ref);
    try {
      await observe(this.deps, ref, (vmi) => vmi.spec?.volumes?.some((volume) => volume.name === name) === true);
    } catch (error) {
      // KubeVirt reports a volume that it can't add only after it has accepted it.
      await this.unplug(state, name).catch(() => undefined);
      throw error;
    }
  }

  /** Removes the volume from the VM. The guest may release it later. */
  async unplug(state: VmState, name: string): Promise<void> {
    const { api } = this.deps;
    const { ref } = state;
    const vm = await api.find<VmObject>(VIRTUAL_MACHINES, ref);
    const spec = vm?.spec?.template?.spec;
    const volume = spec?.volumes?.find((one) => one.name === name);
    if (!vm || !volume) return;
    if (modeOf(state) === 'requests' && isHotpluggable(volume)) {
      const path = subresourcePath(ref.namespace, 'virtualmachines', ref.name, 'removevolume');
      await api.invoke(path, { name }, () => this.isRequested(ref, 'removeVolumeOptions', name));
      return this.waits.untilVm(ref, (now) => !hasVolume(now, name));
    }
    const disks = spec?.domain?.devices?.disks;
    await api.jsonPatch(VIRTUAL_MACHINES, ref, [
      uidTest(vm.metadata.uid),
      ...releaseStrategy({ ...state, vm }),
      ...replaceIfSame(VM_PATHS.volumes, spec?.volumes, without(spec?.volumes, name)),
      ...replaceIfSame(VM_PATHS.disks, disks, without(disks, name)),
    ]);
  }

  /** Whether KubeVirt has recorded or carried out a request. */
  private async isRequested(
    ref: InstanceRef,
    kind: 'addVolumeOptions' | 'removeVolumeOptions',
    name: string,
  ): Promise<boolean> {
    const vm = await this.deps.api.find<VmObject>(VIRTUAL_MACHINES, ref);
    if (!vm) return false;
    const isPending = vm.status?.volumeRequests?.some((request) => request[kind]?.name === name) === true;
    return isPending || hasVolume(vm, name) === (kind === 'addVolumeOptions');
  }
}
