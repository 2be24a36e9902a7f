import type {
  AttachVolumeChange,
  ChangeMediumChange,
  DetachVolumeChange,
  ExpandVolumeChange,
  PlannedChange,
} from '@headgate/domain-contracts';
import type { DomainHardware } from '../domain-hardware.js';
import { AttachVolume } from './attach-volume.js';
import { ChangeMedium } from './change-medium.js';
import { DetachVolume } from './detach-volume.js';
import { ExpandVolume } from './expand-volume.js';
import { OwnedVolumes } from './owned-volumes.js';
import { UsableVolumes } from './usable-volumes.js';
import type { VolumeDeps } from './volume-deps.js';

/** Plans the changes of a VM's disks. */
export class VolumeChanges {
  private readonly owned: OwnedVolumes;
  private readonly usable: UsableVolumes;

  constructor(private readonly deps: VolumeDeps) {
    this.owned = new OwnedVolumes(deps);
    this.usable = new UsableVolumes(deps);
  }

  attach(domain: DomainHardware, change: AttachVolumeChange): Promise<PlannedChange> {
    return new AttachVolume(this.deps, this.owned, this.usable).plan(domain, change);
  }

  detach(domain: DomainHardware, change: DetachVolumeChange): Promise<PlannedChange> {
    return new DetachVolume(this.deps, this.owned).plan(domain, change);
  }

  expand(domain: DomainHardware, change: ExpandVolumeChange): Promise<PlannedChange> {
    return new ExpandVolume(this.deps).plan(domain, change);
  }

  changeMedium(domain: DomainHardware, change: ChangeMediumChange): Promise<PlannedChange> {
    return new ChangeMedium(this.deps, this.usable).plan(domain, change);
  }

  /** Removes the volumes of a domain that this service was adding or deleting and that no disk uses. */
  dropUnused(uuid: string): Promise<void> {
    return this.owned.dropUnused(uuid);
  }
}
