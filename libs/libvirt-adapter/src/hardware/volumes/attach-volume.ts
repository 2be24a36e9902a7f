import { randomBytes } from 'node:crypto';
import {
  formatBytes,
  plannedChange,
  refusedChange,
  type AttachVolumeChange,
  type PlannedChange,
  type PlanStep,
} from '@headgate/domain-contracts';
import type { OwnedVolume } from '../../domain-xml/instance-metadata.js';
import { formatXml } from '../../xml/xml.js';
import { volumeName, type DomainHardware } from '../domain-hardware.js';

import { attachStep, diskElement, newPlace, type DiskFile, type Place } from './new-disk.js';
import type { OwnedVolumes } from './owned-volumes.js';
import { roundUp, sizeRefusals } from './sizes.js';
import type { UsableVolumes } from './usable-volumes.js';
import type { VolumeDeps } from './volume-deps.js';

/** Adds a disk to a domain: a new volume, or one that exists. */
export class AttachVolume {
  constructor(
    private readonly deps: VolumeDeps,
    private readonly owned: OwnedVolumes,
    private readonly usable: UsableVolumes,
  ) {}

  async plan(domain: DomainHardware, { disk }: AttachVolumeChange): Promise<PlannedChange> {
    return 'sizeBytes' in disk ? this.attachNew(domain, disk.sizeBytes) : this.attachExisting(domain, disk.volume);
  }

  private async attachNew(domain: DomainHardware, wantedBytes: number): Promise<PlannedChange> {
    const { pool, mark } = this.deps;
    const { uuid, name } = domain.id;
    const refusals = await sizeRefusals(pool, wantedBytes);
    if (refusals.length > 0) return refusedChange(...refusals);
    const bytes = roundUp(wantedBytes);
    const volume = `${name}-${uuid.slice(0, 8)}-${randomBytes(3).toString('hex')}.qcow2`;
    const place = newPlace(domain);
    const run = async (): Promise<{ volume: string }> => {
      await pool.ensure();
      const owned: OwnedVolume = { pool: pool.name, name: volume, role: 'data', bytes, pending: mark() };
      await this.owned.add(uuid, owned);
      try {
        await pool.createBlank(volume, bytes);
        const path = `${await pool.path()}/${volume}`;
        await this.plug(domain, place, { path, format: 'qcow2', volume });
      } catch (error) {
        await this.owned.dropUnused(uuid);
        throw error;
      }
      await this.owned.settle(uuid, volume);
      return { volume };
    };
    const steps: PlanStep[] = [
      { name: 'create', detail: `A volume of ${formatBytes(bytes)} in the storage pool ${pool.name}.` },
      attachStep(domain, place),
    ];
    return plannedChange({ ...place, steps, run });
  }

  private async attachExisting(domain: DomainHardware, claim: string): Promise<PlannedChange> {
    const found = await this.usable.findDisk(domain, claim);
    if ('code' in found) return refusedChange(found);
    const place = newPlace(domain);
    const volume = volumeName(found, this.deps.pool.name);
    const run = async (): Promise<{ volume: string }> => {
      await this.plug(domain, place, { path: found.path, format: found.format, volume });
      return { volume };
    };
    return plannedChange({ ...place, steps: [attachStep(domain, place, volume)], run });
  }

  private plug({ id, state }: DomainHardware, place: Place, file: DiskFile): Promise<void> {
    return this.deps.connection.domains.attachDevice(id.uuid, {
      xml: formatXml({ disk: diskElement(place, file) }),
      inLiveDomain: state.isActive && place.effect === 'now',
      inPersistentDomain: true,
    });
  }
}
