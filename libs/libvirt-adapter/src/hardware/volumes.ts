import { createHash, randomBytes } from 'node:crypto';
import { lstat } from 'node:fs/promises';
import { dirname } from 'node:path';
import {
  deviceNotFound,
  DISK_RULE,
  DomainError,
  formatBytes,
  isVolumeName,
  type AttachVolumeChange,
  type ChangeMediumChange,
  type Clock,
  type DetachVolumeChange,
  type ExpandVolumeChange,
  type PlanStep,
  type Refusal,
} from '@headgate/domain-contracts';
import type { LibvirtConnection } from '../connection/libvirt-connection.js';
import { formatXml, type XmlElement } from '../domain-xml/xml.js';
import { describeDomain } from '../domain-xml/domain-description.js';
import type { OwnedVolume } from '../domain-xml/instance-metadata.js';
import type { DomainFinder } from '../domains/domain-finder.js';
import { isRemote } from '../host/host.js';
import type { DomainEditor } from '../provisioning/domain-editor.js';
import { DiskUsage } from '../storage/disk-usage.js';
import { findVolume, type FoundVolume } from '../storage/find-volume.js';
import type { StoragePool } from '../storage/storage-pool.js';
import { removeDevice } from './device-removal.js';
import { volumeName, type DiskDevice, type DomainHardware } from './domain-hardware.js';
import { freePciePorts } from './pcie-ports.js';
import { nothingToDo, planned, refusal, refused, type PlannedChange } from './planned-change.js';

export interface VolumeDeps {
  readonly connection: LibvirtConnection;
  readonly finder: DomainFinder;
  readonly pool: StoragePool;
  readonly editor: DomainEditor;
  readonly mark: () => string;
  readonly clock: Clock;
}

/** Plans the changes of a VM's disks. */
export class VolumeChanges {
  constructor(private readonly deps: VolumeDeps) {}

  async attach(domain: DomainHardware, { disk }: AttachVolumeChange): Promise<PlannedChange> {
    return 'sizeBytes' in disk ? this.attachNew(domain, disk.sizeBytes) : this.attachExisting(domain, disk.volume);
  }

  private async attachNew(domain: DomainHardware, wantedBytes: number): Promise<PlannedChange> {
    const { pool, mark, editor } = this.deps;
    const { uuid, name } = domain.id;
    const refusals = await this.sizeRefusals(wantedBytes);
    if (refusals.length > 0) return refused(...refusals);
    const bytes = Math.ceil(wantedBytes / DISK_RULE.stepBytes) * DISK_RULE.stepBytes;
    const volume = `${name}-${uuid.slice(0, 8)}-${randomBytes(3).toString('hex')}.qcow2`;
    const place = newPlace(domain);
    const run = async (): Promise<{ volume: string }> => {
      await pool.ensure();
      const owned: OwnedVolume = { pool: pool.name, name: volume, role: 'data', bytes, pending: mark() };
      // The domain lists the volume first, so that it is removed if this process ends before the disk is attached.
      await editor.updateMetadata(uuid, (metadata) => ({ ...metadata, volumes: [...metadata.volumes, owned] }));
      try {
        await pool.createBlank(volume, bytes);
        const path = `${await pool.path()}/${volume}`;
        await this.plug(domain, place, { path, format: 'qcow2', volume });
      } catch (error) {
        await this.dropUnused(uuid);
        throw error;
      }
      await this.settle(uuid, volume);
      return { volume };
    };
    const steps: PlanStep[] = [
      { name: 'create', detail: `A volume of ${formatBytes(bytes)} in the storage pool ${pool.name}.` },
      attachStep(domain, place),
    ];
    return planned(place.effect, steps, run, place.warnings);
  }

  private async attachExisting(domain: DomainHardware, claim: string): Promise<PlannedChange> {
    const found = await this.findUsable(domain, claim);
    if ('code' in found) return refused(found);
    const place = newPlace(domain);
    const volume = volumeName(found, this.deps.pool.name);
    const run = async (): Promise<{ volume: string }> => {
      await this.plug(domain, place, { path: found.path, format: found.format, volume });
      return { volume };
    };
    return planned(place.effect, [attachStep(domain, place, volume)], run, place.warnings);
  }

  /** A volume that may become a disk of the domain, or the reason why not. */
  private async findUsable(domain: DomainHardware, claim: string): Promise<FoundVolume | Refusal> {
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

  /**
   * A guest that had a raw volume may have written a header into it that names any file of this machine as its backing file, and a
   * symbolic link leads out of its pool.
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

  private plug(
    { id, state }: DomainHardware,
    place: Place,
    file: { readonly path: string; readonly format: string; readonly volume: string },
  ): Promise<void> {
    return this.deps.connection.domains.attachDevice(id.uuid, {
      xml: formatXml({ disk: diskElement(place, file) }),
      inLiveDomain: state.isActive && place.effect === 'now',
      inPersistentDomain: true,
    });
  }

  async detach(domain: DomainHardware, { volume, deleteVolume }: DetachVolumeChange): Promise<PlannedChange> {
    const found = this.find(domain, volume);
    if ('code' in found) return refused(found);
    const { live, config, device, label } = found;
    const { id, state } = domain;
    if (device.isRoot) {
      return refused(
        refusal('WRONG_STATE', `${id.name} boots from ${volume}, so it can't be detached.`, 'Delete the VM instead.'),
      );
    }
    if (domain.config.description.metadata.snapshots.length > 0) {
      return refused(
        refusal('WRONG_STATE', `${id.name} has snapshots, which contain ${volume}.`, 'Delete its snapshots first.'),
      );
    }
    const owned = domain.config.description.metadata.volumes.find(
      ({ pool, name }) => pool === device.volumeId?.pool && name === device.volumeId.name,
    );
    const isOwn = owned !== undefined && domain.config.description.metadata.owner === id.uuid;
    if (deleteVolume && !isOwn) {
      return refused(
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
      return refused(
        refusal('WRONG_STATE', `${volume} is on a SATA port, which can't be unplugged.`, 'Stop the VM first.'),
      );
    }
    const run = async (): Promise<void> => {
      // A volume that is kept no longer belongs to the VM, and is not deleted with it.
      if (isOwn)
        await this.setOwned(id.uuid, owned, deleteVolume ? { ...owned, pending: this.deps.mark() } : undefined);
      try {
        const isIn = (xml: string): boolean => describeDomain(xml).disks.some(({ target }) => target === device.device);
        const xml = { live: state.isActive ? live?.xml : undefined, config: config?.xml };
        await removeDevice(id.uuid, { tag: 'disk', label, ...xml, isIn }, this.deps);
      } catch (error) {
        if (isOwn) await this.setOwned(id.uuid, owned, owned);
        throw error;
      }
      if (deleteVolume) await this.dropUnused(id.uuid);
    };
    return planned(state.isActive ? 'now' : 'next-start', steps, run);
  }

  async expand(domain: DomainHardware, { volume, sizeBytes }: ExpandVolumeChange): Promise<PlannedChange> {
    const found = this.find(domain, volume);
    if ('code' in found) return refused(found);
    const { device, live } = found;
    const { id, state } = domain;
    const refusals = await this.sizeRefusals(sizeBytes);
    if (refusals.length > 0) return refused(...refusals);
    const present = device.sizeBytes;
    const bytes = Math.ceil(sizeBytes / DISK_RULE.stepBytes) * DISK_RULE.stepBytes;
    if (present !== null && bytes < present) {
      return refused(
        refusal(
          'INVALID_QUANTITY',
          `size: ${volume} has ${formatBytes(present)}, and a disk can't shrink.`,
          `Use more than ${formatBytes(present)}.`,
        ),
      );
    }
    if (bytes === present) return nothingToDo;
    const isLive = state.isActive && live !== undefined;
    const { volumeId } = device;
    if (device.type === 'cdrom' || (!isLive && !volumeId)) {
      return refused(
        refusal('NOT_SUPPORTED', `${volume} is not a volume of a storage pool.`, 'Resize it with qemu-img.'),
      );
    }
    const { domains, storage } = this.deps.connection;
    const run = async (): Promise<void> => {
      if (isLive) await domains.resizeDisk(id.uuid, device.device, bytes);
      else if (volumeId) await storage.resizeVolume(volumeId, bytes);
      // libvirt's storage pool does not notice that QEMU has resized a file.
      if (isLive && volumeId) await storage.refreshPool(volumeId.pool);
    };
    const detail = `${volume} from ${present === null ? 'its size' : formatBytes(present)} to ${formatBytes(bytes)}. The file systems in it are the guest's to grow.`;
    return planned(state.isActive ? 'now' : 'next-start', [{ name: 'expand', detail }], run);
  }

  async changeMedium(domain: DomainHardware, { drive, volume }: ChangeMediumChange): Promise<PlannedChange> {
    const drives = domain.config.disks.filter(({ type }) => type === 'cdrom');
    const found = drives.find(({ device }) => device === drive);
    if (!found) {
      const present = drives.map(({ device }) => device);
      return refused(
        refusal(
          'DEVICE_NOT_FOUND',
          deviceNotFound(domain.id.name, `drive ${drive}`, present).message,
          'Name one of its drives.',
        ),
      );
    }
    const medium = volume === null ? undefined : await this.findMedium(domain, volume);
    if (medium && 'code' in medium) return refused(medium);
    if ((found.path ?? null) === (medium?.path ?? null)) return nothingToDo;
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
    return planned(state.isActive ? 'now' : 'next-start', [{ name: medium ? 'insert' : 'eject', detail }], run);
  }

  /** Several VMs may have the same medium, but none may have it as a disk that it writes to. */
  private async findMedium(domain: DomainHardware, claim: string): Promise<FoundVolume | Refusal> {
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

  /** Removes the volumes of a domain that this service was adding or deleting and that no disk uses. */
  async dropUnused(uuid: string): Promise<void> {
    const { editor, pool, mark, connection } = this.deps;
    const { description } = await editor.read(uuid);
    const { metadata } = description;
    if (metadata.owner !== uuid) return;
    const pending = metadata.volumes.filter((volume) => volume.pending === mark() && volume.pool === pool.name);
    if (pending.length === 0) return;
    const [documents] = await connection.domains.documents([{ uuid, name: description.name }]);
    const { xml = '', persistentXml = '' } = documents ?? {};
    for (const volume of pending) {
      const isUsed =
        `${xml.replace(/<metadata>[\s\S]*<\/metadata>/, '')}${persistentXml.replace(/<metadata>[\s\S]*<\/metadata>/, '')}`.includes(
          volume.name,
        );
      if (!isUsed) {
        await pool.remove(volume.name);
        await this.setOwned(uuid, volume, undefined);
      } else await this.settle(uuid, volume.name);
    }
  }

  private async settle(uuid: string, name: string): Promise<void> {
    await this.deps.editor.updateMetadata(uuid, (metadata) => ({
      ...metadata,
      volumes: metadata.volumes.map(({ pending, ...volume }) =>
        volume.name === name || pending === undefined ? volume : { ...volume, pending },
      ),
    }));
  }

  private async setOwned(uuid: string, { pool, name }: OwnedVolume, next: OwnedVolume | undefined): Promise<void> {
    await this.deps.editor.updateMetadata(uuid, (metadata) => ({
      ...metadata,
      volumes: [
        ...metadata.volumes.filter((volume) => volume.pool !== pool || volume.name !== name),
        ...(next ? [next] : []),
      ],
    }));
  }

  private find({ id, live, config }: DomainHardware, volume: string): FoundDisk | Refusal {
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

  private async sizeRefusals(bytes: number): Promise<Refusal[]> {
    const { minBytes, maxBytes } = DISK_RULE;
    if (!Number.isSafeInteger(bytes) || bytes < minBytes || bytes > maxBytes) {
      const limits = `from ${formatBytes(minBytes)} to ${formatBytes(maxBytes)}`;
      return [refusal('INVALID_QUANTITY', `size must be ${limits}.`, 'Choose another size.')];
    }
    const space = await this.deps.pool.space();
    if (!space || space.capacityBytes === 0 || bytes <= space.capacityBytes) return [];
    return [
      refusal(
        'INSUFFICIENT_STORAGE',
        `size: ${formatBytes(bytes)} is more than the whole storage pool ${this.deps.pool.name}, which has ${formatBytes(space.capacityBytes)}.`,
        'Choose a smaller disk.',
      ),
    ];
  }
}

interface FoundDisk {
  readonly device: DiskDevice;
  readonly label: string;
  readonly live?: DiskDevice;
  readonly config?: DiskDevice;
}

/** Where a new disk goes. */
interface Place {
  readonly target: string;
  readonly bus: 'virtio' | 'sata';
  readonly effect: 'now' | 'next-start';
  readonly warnings: readonly string[];
}

/** Disks are virtio where the guest has a driver for it; SATA disks can't be added while a guest runs. */
function newPlace({ state, live, config }: DomainHardware): Place {
  const root = config.disks.find(({ isRoot }) => isRoot);
  const bus = root === undefined || root.bus === 'virtio' ? 'virtio' : 'sata';
  const target = freeTarget(
    bus,
    [...live.disks, ...config.disks].map(({ device }) => device),
  );
  if (!state.isActive) return { target, bus, effect: 'next-start', warnings: [] };
  if (bus === 'sata') {
    return {
      target,
      bus,
      effect: 'next-start',
      warnings: ['A SATA disk appears when the VM is started the next time.'],
    };
  }
  if (freePciePorts(live.description.document) === 0) {
    return {
      target,
      bus,
      effect: 'next-start',
      warnings: ['The running VM has no free PCIe port: the disk appears at its next start.'],
    };
  }
  return { target, bus, effect: 'now', warnings: [] };
}

const LETTERS = 'abcdefghijklmnopqrstuvwxyz';

function freeTarget(bus: Place['bus'], taken: readonly string[]): string {
  const prefix = bus === 'virtio' ? 'vd' : 'sd';
  const names = [...LETTERS].flatMap((first) => [...LETTERS].map((second) => `${first}${second}`));
  const found = [...LETTERS, ...names].map((letters) => `${prefix}${letters}`).find((name) => !taken.includes(name));
  return found ?? `${prefix}zz`;
}

const attachStep = ({ id }: DomainHardware, { target, effect }: Place, volume = 'it'): PlanStep => ({
  name: 'attach',
  detail: `Attach ${volume} to ${id.name} as ${target}${effect === 'now' ? ', at once' : ''}.`,
});

/** The guest finds the disk by its serial number. QEMU cuts it off after 20 characters. */
const serialOf = (volume: string): string => createHash('sha256').update(volume).digest('hex').slice(0, 20);

const diskElement = (
  { target, bus }: Place,
  { path, format, volume }: { readonly path: string; readonly format: string; readonly volume: string },
): XmlElement => ({
  '@type': path.startsWith('/dev/') ? 'block' : 'file',
  '@device': 'disk',
  driver: { '@name': 'qemu', '@type': format, '@discard': 'unmap', '@detect_zeroes': 'unmap' },
  source: path.startsWith('/dev/') ? { '@dev': path } : { '@file': path },
  target: { '@dev': target, '@bus': bus },
  serial: serialOf(volume),
});

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
