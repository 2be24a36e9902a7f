import type {
  AttachVolumeChange,
  ChangeMediumChange,
  DetachVolumeChange,
  ExpandVolumeChange,
} from '@headgate/domain-contracts';
import type { PlannedPatch } from '../planned-change.js';
import type { HardwareDeps, VmState } from '../vm-hardware.js';
import { AttachVolume } from './attach-volume.js';
import { ChangeMedium } from './change-medium.js';
import { DetachVolume } from './detach-volume.js';
import { ExpandVolume } from './expand-volume.js';
import { Plugging } from './plugging.js';
import { VolumeWaits } from './volume-waits.js';

/** Plans the changes of a VM's disks. */
export class VolumeChanges {
  private readonly waits: VolumeWaits;
  private readonly plugging: Plugging;

  constructor(private readonly deps: HardwareDeps) {
    this.waits = new VolumeWaits(deps);
    this.plugging = new Plugging(deps, this.waits);
  }

  attach(state: VmState, change: AttachVolumeChange): Promise<PlannedPatch> {
    return new AttachVolume(this.deps, this.waits, this.plugging).plan(state, change);
  }

  detach(state: VmState, change: DetachVolumeChange): Promise<PlannedPatch> {
    return new DetachVolume(this.deps, this.waits, this.plugging).plan(state, change);
  }

  expand(state: VmState, change: ExpandVolumeChange): Promise<PlannedPatch> {
    return new ExpandVolume(this.deps, this.waits).plan(state, change);
  }

  changeMedium(state: VmState, change: ChangeMediumChange): Promise<PlannedPatch> {
    return new ChangeMedium(this.deps).plan(state, change);
  }
}
