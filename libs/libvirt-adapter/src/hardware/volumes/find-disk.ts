import { deviceNotFound, refusal, type Refusal } from '@headgate/domain-contracts';
import type { DiskDevice, DomainHardware } from '../domain-hardware.js';

/** A disk of a domain, in the running one and in the one of the next start. */
export interface FoundDisk {
  readonly device: DiskDevice;
  readonly label: string;
  readonly live?: DiskDevice;
  readonly config?: DiskDevice;
}

export function findDisk({ id, live, config }: DomainHardware, volume: string): FoundDisk | Refusal {
  const matches = (disk: DiskDevice): boolean =>
    disk.type === 'disk' && !disk.isSeed && (disk.volume === volume || disk.device === volume);
  const [inLive, inConfig] = [live.disks.find(matches), config.disks.find(matches)];
  const device = inLive ?? inConfig;
  if (device) {
    const label = `the disk ${volume} of ${id.name}`;
    return { device, label, ...(inLive && { live: inLive }), ...(inConfig && { config: inConfig }) };
  }
  const present = live.disks
    .filter(({ type, isSeed }) => type === 'disk' && !isSeed)
    .map((disk) => disk.volume ?? disk.device);
  return refusal(
    'DEVICE_NOT_FOUND',
    deviceNotFound(id.name, `disk ${volume}`, present).message,
    'Name one of its disks.',
  );
}
