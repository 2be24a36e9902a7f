import {
  buildPlan,
  deviceNotFound,
  formatBytes,
  type DiskMoveRequest,
  type Plan,
  type Refusal,
} from '@headgate/domain-contracts';
import { SPACE_WATERMARK_BYTES } from '@headgate/downloads';
import { basename } from 'node:path';
import type { DomainId } from '../connection/domain-operations.js';
import type { DomainDescription } from '../domain-xml/domain-description.js';
import type { OwnedVolume } from '../domain-xml/instance-metadata.js';
import { formatXml } from '../xml/xml.js';
import type { DiskChangesDeps } from '../snapshots/disk-changes.js';
import { busyRefusal, type DiskHolds } from '../locks/disk-holds.js';
import { findFilePool } from '../storage/file-pool.js';
import { describeVolume } from '../storage/find-volume.js';
import { readPoolSpace } from '../storage/pool-space.js';

export interface DiskMovePlansDeps extends Pick<DiskChangesDeps, 'connection' | 'editor'> {
  readonly holds: DiskHolds;
}

export interface MovableDisk {
  readonly target: string;
  /** Its volume, which the service created for the VM. */
  readonly pool: string;
  readonly name: string;
  readonly path: string;
  readonly format: 'qcow2' | 'raw';
  readonly bytes: number;
}

export interface PreparedMove {
  readonly id: DomainId;
  readonly plan: Plan;
  /** Not valid if the plan has refusals. */
  readonly disk: MovableDisk;
  readonly pool: { readonly name: string };
  /** The new volume. */
  readonly volume: { readonly path: string; readonly xml: string };
}

const NO_DISK: MovableDisk = { target: '', pool: '', name: '', path: '', format: 'qcow2', bytes: 0 };

const refuse = (code: Refusal['code'], reason: string, remedy: string): Refusal => ({ code, reason, remedy });

/** The checks before a move. They change nothing. */
export class DiskMovePlans {
  constructor(private readonly deps: DiskMovePlansDeps) {}

  /** @param isHolder whether the caller keeps other changes of the disks away */
  async prepare(id: DomainId, { volume, storage }: DiskMoveRequest, isHolder = false): Promise<PreparedMove> {
    const { description, isActive } = await this.deps.editor.read(id.uuid);
    const refusals = this.stateRefusals(id, description, isActive, isHolder);
    const [disk, pool] = [
      await this.findDisk(id, description, volume),
      await findFilePool(this.deps.connection.storage, storage),
    ];
    if ('code' in disk) refusals.push(disk);
    if ('code' in pool) refusals.push(pool);
    if ('code' in disk || 'code' in pool) return failed(id, refusals);
    if (disk.pool === storage) {
      refusals.push(refuse('WRONG_STATE', `${disk.target} is in the pool ${storage} already.`, 'Choose another pool.'));
      return failed(id, refusals);
    }
    refusals.push(...(await this.spaceRefusals(disk, storage)));
    if ((await this.deps.connection.storage.volumePaths([{ pool: storage, name: disk.name }]))[0] !== undefined)
      refusals.push(
        refuse('ALREADY_EXISTS', `The pool ${storage} already has a volume ${disk.name}.`, 'Rename or delete it.'),
      );
    const steps = [
      { name: 'volume', detail: `Create the volume ${storage}/${disk.name} of ${formatBytes(disk.bytes)}.` },
      { name: 'copy', detail: `Copy the disk ${disk.target} while ${id.name} runs.` },
      { name: 'switch', detail: `Let ${id.name} use the copy, and remove ${disk.pool}/${disk.name}.` },
    ];
    return {
      id,
      disk,
      pool: { name: storage },
      volume: { path: `${pool.path}/${disk.name}`, xml: volumeXml(disk) },
      plan: buildPlan(steps, { refusals }),
    };
  }

  /** The pool of a disk that the service has created; undefined for any other. */
  async poolOf(id: DomainId, volume: string): Promise<string | undefined> {
    const { description } = await this.deps.editor.read(id.uuid);
    const disk = await this.findDisk(id, description, volume);
    return 'code' in disk ? undefined : disk.pool;
  }

  private stateRefusals(
    id: DomainId,
    { metadata }: DomainDescription,
    isActive: boolean,
    isHolder: boolean,
  ): Refusal[] {
    const refusals: Refusal[] = [];
    if (metadata.provisioning !== undefined)
      refusals.push(refuse('BUSY', `${id.name} is still being created.`, 'Wait until its disk is ready.'));
    if (metadata.pending !== undefined || (this.deps.holds.has(id.uuid) && !isHolder))
      refusals.push(busyRefusal(id.name));
    if (!isActive)
      refusals.push(
        refuse('WRONG_STATE', `${id.name} is not running. Only disks of a running VM are moved.`, 'Start it first.'),
      );
    if (metadata.snapshots.length > 0)
      refusals.push(
        refuse('WRONG_STATE', `${id.name} has snapshots, whose layers can't be moved.`, 'Delete its snapshots first.'),
      );
    return refusals;
  }

  private async findDisk(id: DomainId, description: DomainDescription, volume: string): Promise<MovableDisk | Refusal> {
    const disks = description.disks.filter(({ device }) => device === 'disk');
    const wanted = basename(volume);
    const found = disks.find(
      ({ target, path }) => target === volume || (path !== undefined && basename(path) === wanted),
    );
    if (!found?.path) {
      const { message } = deviceNotFound(id.name, `disk ${volume}`, disks.map(({ target }) => target)); // prettier-ignore
      return refuse('DEVICE_NOT_FOUND', message, 'Name one of its disks.');
    }
    const owned = await this.ownedVolume(description, found.path);
    if (!owned)
      return refuse(
        'NOT_SUPPORTED',
        `The disk ${found.target} of ${id.name} was not created by this service for this VM.`,
        'Use the tools with which it was created.',
      );
    const { format, bytes } = describeVolume(await this.deps.connection.storage.volumeXml(owned));
    return { ...owned, target: found.target, path: found.path, bytes, format: format === 'qcow2' ? 'qcow2' : 'raw' };
  }

  private async ownedVolume(
    { uuid, metadata }: DomainDescription,
    path: string,
  ): Promise<{ readonly pool: string; readonly name: string } | undefined> {
    if (metadata.owner !== uuid) return undefined;
    const isCandidate = ({ role, name }: OwnedVolume): boolean =>
      (role === 'disk' || role === 'data') && name === basename(path);
    const candidates = metadata.volumes.filter(isCandidate).map(({ pool, name }) => ({ pool, name }));
    const paths = await this.deps.connection.storage.volumePaths(candidates);
    return candidates.find((_volume, i) => paths[i] === path);
  }

  private async spaceRefusals({ bytes }: MovableDisk, pool: string): Promise<Refusal[]> {
    const { availableBytes, capacityBytes } = await readPoolSpace(this.deps.connection, pool);
    if (availableBytes >= SPACE_WATERMARK_BYTES && (capacityBytes === 0 || bytes <= capacityBytes)) return [];
    const reason = `The storage pool ${pool} has ${formatBytes(availableBytes)} free, and the disk has up to ${formatBytes(bytes)}.`;
    return [refuse('INSUFFICIENT_STORAGE', reason, 'Free some space, or choose another pool.')];
  }
}

const failed = (id: DomainId, refusals: readonly Refusal[]): PreparedMove => ({
  id,
  disk: NO_DISK,
  pool: { name: '' },
  volume: { path: '', xml: '' },
  plan: buildPlan([], { refusals }),
});

const volumeXml = ({ name, bytes, format }: MovableDisk): string =>
  formatXml({
    volume: {
      name,
      capacity: { '@unit': 'bytes', '#text': String(bytes) },
      allocation: { '@unit': 'bytes', '#text': '0' },
      target: { format: { '@type': format } },
    },
  });
