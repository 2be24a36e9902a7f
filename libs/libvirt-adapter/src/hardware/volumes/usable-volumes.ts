import { lstat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { DomainError, isVolumeName, refusal, type Refusal } from '@headgate/domain-contracts';
import { describeDomain } from '../../domain-xml/domain-description.js';
import { isRemote } from '../../host/host.js';
import { DiskUsage } from '../../storage/disk-usage.js';
import { findVolume, type FoundVolume } from '../../storage/find-volume.js';
import type { DomainHardware } from '../domain-hardware.js';
import type { VolumeDeps } from './volume-deps.js';

/** Finds volumes that exist, and checks whether a domain may use them. */
export class UsableVolumes {
  constructor(private readonly deps: Pick<VolumeDeps, 'connection' | 'finder' | 'pool'>) {}

  /** A volume that may become a disk of the domain, or the reason why not. */
  async findDisk(domain: DomainHardware, claim: string): Promise<FoundVolume | Refusal> {
    const { connection, finder, pool } = this.deps;
    const missing = refusal(
      'VOLUME_NOT_FOUND',
      `There is no volume ${claim} in a storage pool of libvirt.`,
      'Name a volume of an active storage pool.',
    );
    if (!isVolumeName(claim)) return missing;
    let found: FoundVolume;
    try {
      found = await findVolume(connection, claim, pool.name);
    } catch (error) {
      if (!DomainError.is(error, 'VOLUME_NOT_FOUND', 'CONFLICT')) throw error;
      return refusal(error.code, error.message, 'Name a volume of an active storage pool.');
    }
    if ([...domain.live.disks, ...domain.config.disks].some(({ path }) => path === found.path)) {
      return refusal('ALREADY_EXISTS', `${domain.id.name} has the volume ${claim} already.`, 'Name another volume.');
    }
    const usage = await DiskUsage.read(connection, finder);
    const users = usage.usersOf(found.path);
    if (usage.isUsedByOthers(found.path, '')) {
      return refusal(
        'BUSY',
        `The volume ${claim} is used by ${users.join(', ') || 'another VM'}.`,
        'Name another volume.',
      );
    }
    return (await this.unsafe(found)) ?? found;
  }

  /** Several VMs may have the same medium, but none may have it as a disk that it writes to. */
  async findMedium(domain: DomainHardware, claim: string): Promise<FoundVolume | Refusal> {
    const { connection, finder, pool } = this.deps;
    const missing = refusal(
      'VOLUME_NOT_FOUND',
      `There is no volume ${claim} in a storage pool of libvirt.`,
      'Name a volume.',
    );
    if (!isVolumeName(claim)) return missing;
    const found = await findVolume(connection, claim, pool.name).catch((error: unknown) => {
      if (DomainError.is(error, 'VOLUME_NOT_FOUND', 'CONFLICT')) return undefined;
      throw error;
    });
    if (!found) return missing;
    const documents = await connection.domains.documents(await finder.all());
    const writer = documents.find(({ xml, persistentXml = xml }) =>
      [xml, persistentXml].some((one) =>
        describeDomain(one).disks.some(({ device, path }) => device === 'disk' && path === found.path),
      ),
    );
    if (writer) return refusal('BUSY', `${claim} is a disk of ${writer.id.name}.`, 'Name another volume.');
    return (await this.unsafe(found)) ?? found;
  }

  /**
   * A guest that had a raw volume may have written a header into it that names any file of this machine as its backing
   * file, and a symbolic link leads out of its pool.
   */
  private async unsafe({ path, pool, name, backingPath }: FoundVolume): Promise<Refusal | undefined> {
    if (backingPath !== undefined && (pool !== this.deps.pool.name || dirname(backingPath) !== dirname(path))) {
      return refusal(
        'INVALID_SOURCE',
        `The volume ${name} is based on ${backingPath}, which is outside of this service's storage pool.`,
        'Flatten it with `qemu-img convert` first.',
      );
    }
    if (isRemote(this.deps.connection.uri)) return undefined;
    const file = await lstat(path).catch(() => undefined);
    return file?.isSymbolicLink()
      ? refusal('INVALID_SOURCE', `The volume ${name} is a symbolic link.`, 'Move the file itself into the pool.')
      : undefined;
  }
}
