import { randomBytes } from 'node:crypto';
import { DomainError, type Checkpoint } from '@headgate/domain-contracts';
import type { NewCheckpoint } from '../connection/backup-operations.js';
import type { DomainId } from '../connection/domain-operations.js';
import type { LibvirtConnection } from '../connection/libvirt-connection.js';
import { attribute, element, elements, parseXml, text, type XmlElement } from '../xml/xml.js';
import type { EditableDomain } from '../domains/domain-editor.js';
import type { QemuImg } from '../storage/qemu-img.js';

/** A checkpoint that this service created. */
export interface RecordedCheckpoint extends Checkpoint {
  /** libvirt's name, which is also that of the bitmap in the image of the disk. */
  readonly id: string;
}

/** Distinguishes the checkpoints of the service from those of other programs. */
const DESCRIPTION = 'Created by Headgate.';
const ID = /^([a-z0-9][a-z0-9-]{0,62})\.[0-9a-f]{8}$/;

const LOST = 'Its record of changes is lost: delete it, and export the whole disk with a new checkpoint.';
const STOPPED = 'The VM is not running. Start it to export the changes since then.';

/**
 * libvirt's name of a new checkpoint. It is never used again: the layers of a snapshot that is restored later may still
 * have bitmaps of deleted checkpoints, which must not be taken for those of a new one.
 */
export const newCheckpointId = (name: string): string => `${name}.${randomBytes(4).toString('hex')}`;

export const checkpointOf = (id: string): NewCheckpoint => ({ name: id, description: DESCRIPTION });

/** The checkpoints in libvirt, and their bitmaps in the images of disks. */
export class RecordedCheckpoints {
  constructor(
    private readonly connection: LibvirtConnection,
    private readonly images: Pick<QemuImg, 'removeBitmap'>,
  ) {}

  /** The oldest first, without the one of an export that has not ended. */
  async list({ description, isActive }: EditableDomain): Promise<RecordedCheckpoint[]> {
    const { uuid, metadata } = description;
    const ids = (await this.connection.backups.checkpoints(uuid)).filter((id) => ID.test(id));
    const found = await Promise.all(ids.map((id) => this.read(uuid, id, isActive)));
    return found
      .filter((checkpoint) => checkpoint !== undefined)
      .filter(({ id }) => metadata.owner !== uuid || id !== metadata.backup?.checkpoint);
  }

  /** @throws DomainError CHECKPOINT_NOT_FOUND */
  async find(domain: EditableDomain, { name }: DomainId, checkpoint: string): Promise<RecordedCheckpoint> {
    const found = (await this.list(domain)).find((one) => one.name === checkpoint);
    if (!found) throw new DomainError('CHECKPOINT_NOT_FOUND', `${name} has no checkpoint ${checkpoint}.`);
    return found;
  }

  /** How much of a running domain has changed since a checkpoint; undefined if that is not known. */
  async changedBytes(uuid: string, id: string): Promise<number | undefined> {
    try {
      return sizeOf(await this.connection.backups.checkpointXml(uuid, id, { withSize: true }));
    } catch (error) {
      if (DomainError.is(error, 'CHECKPOINT_NOT_FOUND', 'CHECKPOINT_INCONSISTENT')) return undefined;
      throw error;
    }
  }

  /** Removes a checkpoint with its bitmaps; a missing one is not an error. */
  async remove({ description, isActive }: EditableDomain, id: string): Promise<void> {
    const { backups } = this.connection;
    const { uuid, disks } = description;
    try {
      if (isActive) return await backups.deleteCheckpoint(uuid, id, { keepBitmap: false });
      const targets = disksOf(await backups.checkpointXml(uuid, id, { withSize: false }));
      const paths = disks.flatMap(({ target, path }) => (path !== undefined && targets.includes(target) ? [path] : []));
      for (const path of paths) await this.images.removeBitmap(path, id);
      await backups.deleteCheckpoint(uuid, id, { keepBitmap: true });
    } catch (error) {
      if (DomainError.is(error, 'CHECKPOINT_NOT_FOUND')) return;
      if (!DomainError.is(error, 'CHECKPOINT_INCONSISTENT')) throw error;
      // There is no bitmap to remove.
      await backups.deleteCheckpoint(uuid, id, { keepBitmap: true });
    }
  }

  private async read(uuid: string, id: string, isActive: boolean): Promise<RecordedCheckpoint | undefined> {
    try {
      const xml = await this.connection.backups.checkpointXml(uuid, id, { withSize: isActive });
      return parseCheckpoint(id, xml, isActive);
    } catch (error) {
      if (DomainError.is(error, 'CHECKPOINT_NOT_FOUND')) return undefined;
      throw error;
    }
  }
}

function parseCheckpoint(id: string, xml: string, isActive: boolean): RecordedCheckpoint | undefined {
  const document = element(parseXml(xml), 'domaincheckpoint');
  if (text(document, 'description') !== DESCRIPTION) return undefined;
  const creationTime = new Date(Number(text(document, 'creationTime') ?? 0) * 1000).toISOString();
  const common = { id, name: id.slice(0, id.lastIndexOf('.')), creationTime };
  if (!isActive) return { ...common, ready: false, reason: STOPPED };
  const changedBytes = sizeOf(xml);
  return changedBytes === undefined
    ? { ...common, ready: false, reason: LOST }
    : { ...common, ready: true, changedBytes };
}

/** libvirt omits the size of changes whose bitmap is missing or broken. */
function sizeOf(xml: string): number | undefined {
  const sizes = recordedDisks(xml).map((disk) => Number(attribute(disk, 'size') ?? NaN));
  const changedBytes = sizes.reduce((sum, bytes) => sum + bytes, 0);
  return sizes.length > 0 && Number.isSafeInteger(changedBytes) ? changedBytes : undefined;
}

const recordedDisks = (xml: string): XmlElement[] =>
  elements(element(element(parseXml(xml), 'domaincheckpoint'), 'disks'), 'disk').filter(
    (disk) => attribute(disk, 'checkpoint') === 'bitmap',
  );

const disksOf = (xml: string): string[] => recordedDisks(xml).map((disk) => attribute(disk, 'name') ?? '');
