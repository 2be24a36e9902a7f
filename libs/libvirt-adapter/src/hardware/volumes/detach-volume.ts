import {
  plannedChange,
  refusal,
  refusedChange,
  type DetachVolumeChange,
  type PlannedChange,
} from '@headgate/domain-contracts';
import { describeDomain } from '../../domain-xml/domain-description.js';
import { removeDevice } from '../device-removal.js';
import type { DomainHardware } from '../domain-hardware.js';
import { findDisk } from './find-disk.js';
import type { OwnedVolumes } from './owned-volumes.js';
import type { VolumeDeps } from './volume-deps.js';

/** Removes a disk from a domain, and its volume if that is requested. */
export class DetachVolume {
  constructor(
    private readonly deps: VolumeDeps,
    private readonly owned: OwnedVolumes,
  ) {}

  async plan(domain: DomainHardware, { volume, deleteVolume }: DetachVolumeChange): Promise<PlannedChange> {
    const found = findDisk(domain, volume);
    if ('code' in found) return refusedChange(found);
    const { live, config, device, label } = found;
    const { id, state } = domain;
    if (device.isRoot) {
      return refusedChange(
        refusal('WRONG_STATE', `${id.name} boots from ${volume}, so it can't be detached.`, 'Delete the VM instead.'),
      );
    }
    if (domain.config.description.metadata.snapshots.length > 0) {
      return refusedChange(
        refusal('WRONG_STATE', `${id.name} has snapshots, which contain ${volume}.`, 'Delete its snapshots first.'),
      );
    }
    const owned = domain.config.description.metadata.volumes.find(
      ({ pool, name }) => pool === device.volumeId?.pool && name === device.volumeId.name,
    );
    const isOwn = owned !== undefined && domain.config.description.metadata.owner === id.uuid;
    if (deleteVolume && !isOwn) {
      return refusedChange(
        refusal(
          'WRONG_STATE',
          `${volume} was not created for ${id.name}, so it is not deleted with its disk.`,
          'Detach it without deleting it.',
        ),
      );
    }
    const isLive = state.isActive && live !== undefined;
    const canLeave = !isLive || device.bus !== 'sata';
    const steps = [
      { name: 'detach', detail: `${label}${isLive && canLeave ? ', when the guest releases it' : ''}.` },
      ...(deleteVolume ? [{ name: 'delete', detail: `The volume ${volume}.` }] : []),
    ];
    if (!canLeave) {
      return refusedChange(
        refusal('WRONG_STATE', `${volume} is on a SATA port, which can't be unplugged.`, 'Stop the VM first.'),
      );
    }
    const run = async (): Promise<void> => {
      // A volume that is kept no longer belongs to the VM, and is not deleted with it.
      if (isOwn)
        await this.owned.set(id.uuid, owned, deleteVolume ? { ...owned, pending: this.deps.mark() } : undefined);
      try {
        const isIn = (xml: string): boolean => describeDomain(xml).disks.some(({ target }) => target === device.device);
        const xml = { live: state.isActive ? live?.xml : undefined, config: config?.xml };
        await removeDevice(id.uuid, { tag: 'disk', label, ...xml, isIn }, this.deps);
      } catch (error) {
        if (isOwn) await this.owned.set(id.uuid, owned, owned);
        throw error;
      }
      if (deleteVolume) await this.owned.dropUnused(id.uuid);
    };
    return plannedChange({ effect: state.isActive ? 'now' : 'next-start', steps, run });
  }
}
