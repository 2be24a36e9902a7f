import {
  formatBytes,
  noChange,
  plannedChange,
  refusal,
  refusedChange,
  type ExpandVolumeChange,
  type PlannedChange,
} from '@headgate/domain-contracts';
import type { DomainHardware } from '../domain-hardware.js';
import { findDisk } from './find-disk.js';
import { roundUp, sizeRefusals } from './sizes.js';
import type { VolumeDeps } from './volume-deps.js';

/** Enlarges a disk of a domain. */
export class ExpandVolume {
  constructor(private readonly deps: Pick<VolumeDeps, 'connection' | 'onResized' | 'pool'>) {}

  async plan(domain: DomainHardware, { volume, sizeBytes }: ExpandVolumeChange): Promise<PlannedChange> {
    const found = findDisk(domain, volume);
    if ('code' in found) return refusedChange(found);
    const { device, live } = found;
    const { id, state } = domain;
    const refusals = await sizeRefusals(this.deps.pool, sizeBytes);
    if (refusals.length > 0) return refusedChange(...refusals);
    const present = device.sizeBytes;
    const bytes = roundUp(sizeBytes);
    if (present !== null && bytes < present) {
      return refusedChange(
        refusal(
          'INVALID_QUANTITY',
          `size: ${volume} has ${formatBytes(present)}, and a disk can't shrink.`,
          `Use more than ${formatBytes(present)}.`,
        ),
      );
    }
    if (bytes === present) return noChange;
    const isLive = state.isActive && live !== undefined;
    const { volumeId } = device;
    if (device.type === 'cdrom' || (!isLive && !volumeId)) {
      return refusedChange(
        refusal('NOT_SUPPORTED', `${volume} is not a volume of a storage pool.`, 'Resize it with qemu-img.'),
      );
    }
    const { pool, onResized } = this.deps;
    const { domains, storage } = this.deps.connection;
    const run = async (): Promise<void> => {
      if (isLive) await domains.resizeDisk(id.uuid, device.device, bytes);
      else if (volumeId) await storage.resizeVolume(volumeId, bytes);
      // libvirt's storage pool does not notice that QEMU has resized a file.
      if (!isLive || !volumeId) return onResized(id);
      await (volumeId.pool === pool.name ? pool.refresh() : storage.refreshPool(volumeId.pool));
    };
    const detail = `${volume} from ${present === null ? 'its size' : formatBytes(present)} to ${formatBytes(bytes)}. The file systems in it are the guest's to grow.`;
    return plannedChange({ effect: state.isActive ? 'now' : 'next-start', steps: [{ name: 'expand', detail }], run });
  }
}
