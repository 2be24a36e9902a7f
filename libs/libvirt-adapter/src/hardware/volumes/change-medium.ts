import {
  deviceNotFound,
  noChange,
  plannedChange,
  refusal,
  refusedChange,
  type ChangeMediumChange,
  type PlannedChange,
} from '@headgate/domain-contracts';
import { formatXml, type XmlElement } from '../../xml/xml.js';
import type { FoundVolume } from '../../storage/find-volume.js';
import type { DomainHardware } from '../domain-hardware.js';
import type { UsableVolumes } from './usable-volumes.js';
import type { VolumeDeps } from './volume-deps.js';

/** Inserts a medium into a drive of a domain, or ejects it. */
export class ChangeMedium {
  constructor(
    private readonly deps: Pick<VolumeDeps, 'connection'>,
    private readonly usable: UsableVolumes,
  ) {}

  async plan(domain: DomainHardware, { drive, volume }: ChangeMediumChange): Promise<PlannedChange> {
    const drives = domain.config.disks.filter(({ type }) => type === 'cdrom');
    const found = drives.find(({ device }) => device === drive);
    if (!found) {
      const present = drives.map(({ device }) => device);
      return refusedChange(
        refusal(
          'DEVICE_NOT_FOUND',
          deviceNotFound(domain.id.name, `drive ${drive}`, present).message,
          'Name one of its drives.',
        ),
      );
    }
    const medium = volume === null ? undefined : await this.usable.findMedium(domain, volume);
    if (medium && 'code' in medium) return refusedChange(medium);
    if ((found.path ?? null) === (medium?.path ?? null)) return noChange;
    const { state, id } = domain;
    const live = domain.live.disks.find(({ device }) => device === drive);
    const run = async (): Promise<void> => {
      const { domains } = this.deps.connection;
      if (state.isActive && live) {
        const xml = formatXml({ disk: withMedium(live.xml, medium) });
        await domains.updateDevice(id.uuid, { xml, inLiveDomain: true, inPersistentDomain: false });
      }
      const xml = formatXml({ disk: withMedium(found.xml, medium) });
      await domains.updateDevice(id.uuid, { xml, inLiveDomain: false, inPersistentDomain: true });
    };
    const detail = medium ? `${volume} into ${drive}.` : `The medium in ${drive}.`;
    return plannedChange({
      effect: state.isActive ? 'now' : 'next-start',
      steps: [{ name: medium ? 'insert' : 'eject', detail }],
      run,
    });
  }
}

/** The drive with another medium, or without one. */
function withMedium(drive: XmlElement, medium: FoundVolume | undefined): XmlElement {
  const { source: _source, backingStore: _backing, ...rest } = drive;
  return medium
    ? {
        ...rest,
        '@type': 'file',
        driver: { '@name': 'qemu', '@type': mediumFormat(medium) },
        source: { '@file': medium.path },
      }
    : rest;
}

const mediumFormat = ({ format }: FoundVolume): string => (format === 'iso' ? 'raw' : format);
