import { randomBytes } from 'node:crypto';
import { DomainError, type Clock, type Log } from '@headgate/domain-contracts';
import type { LibvirtConnection } from '../connection/libvirt-connection.js';
import type { InstanceMetadata, OwnedVolume, VolumeRole } from '../domain-xml/instance-metadata.js';
import type { DiskVolume, PendingChange } from '../domain-xml/snapshot-metadata.js';
import type { DomainEditor, EditableDomain } from '../domains/domain-editor.js';
import type { StoragePool } from '../storage/storage-pool.js';
import type { KeyedLock } from '../locks/concurrency.js';
import { editDomainXml } from './edit-domain-xml.js';

export interface DiskChangesDeps {
  readonly connection: LibvirtConnection;
  readonly pool: StoragePool;
  readonly editor: DomainEditor;
  readonly lock: KeyedLock;
  readonly clock: Clock;
  readonly log: Log;
  /** The identity of this service. */
  readonly service: () => string;
}

/** The volumes below the disks, and the overlays that replace the present files. */
export interface NewOverlay {
  readonly target: string;
  /** Name of the volume below. */
  readonly base: string;
  /** Name of the new volume. */
  readonly name: string;
}

/**
 * The steps of a change that replaces the files of disks with overlays. The metadata of the domain lists the new
 * volumes and the change itself before they are created, so that nothing is lost or left over by an interruption.
 * Callers hold the domain's lock.
 */
export class DiskChanges {
  constructor(private readonly deps: DiskChangesDeps) {}

  /** A name for a volume of the domain that no other volume has. */
  freshName(vm: string, uuid: string, suffix: string): string {
    return `${vm}-${uuid.slice(0, 8)}-${randomBytes(4).toString('hex')}${suffix}`;
  }

  /** Records a change and the volumes that it will create. */
  async begin(
    uuid: string,
    change: Omit<PendingChange, 'service' | 'startedAt'>,
    volumes: readonly { readonly name: string; readonly role: VolumeRole }[],
  ): Promise<PendingChange> {
    const pending = { ...change, service: this.deps.service(), startedAt: this.deps.clock.iso() };
    const added = volumes.map((volume): OwnedVolume => ({ pool: this.deps.pool.name, ...volume }));
    await this.deps.editor.updateMetadata(uuid, (metadata) => {
      if (metadata.pending) throw new DomainError('BUSY', 'Another change of the disks of this VM is in progress.');
      return { ...metadata, pending, volumes: [...metadata.volumes, ...added] };
    });
    return pending;
  }

  async createOverlays(overlays: readonly NewOverlay[]): Promise<void> {
    const { pool } = this.deps;
    for (const { base, name } of overlays) {
      const { path, bytes, format } = await pool.describe(base);
      await pool.createOverlay(name, bytes, { path, format });
    }
  }

  /** Replaces the files and the metadata of a stopped domain in one step. */
  async redefine(
    uuid: string,
    change: {
      readonly disks: readonly DiskVolume[];
      readonly nvram?: string;
      readonly metadata: (metadata: InstanceMetadata) => InstanceMetadata;
    },
  ): Promise<void> {
    const { connection, pool, editor } = this.deps;
    const folder = await pool.path();
    const { description, isActive } = await editor.read(uuid);
    if (isActive) throw new DomainError('WRONG_STATE', `${description.name} was started meanwhile.`);
    const xml = await connection.domains.xml(uuid, { withSecrets: true });
    this.deps.lock.expectHeld(uuid);
    await connection.domains.define(
      editDomainXml(xml, {
        disks: new Map(change.disks.map(({ target, name }) => [target, `${folder}/${name}`])),
        metadata: change.metadata(description.metadata),
        ...(change.nvram !== undefined && { nvram: `${folder}/${change.nvram}` }),
      }),
    );
  }

  /** Whether the domain uses exactly these volumes. */
  uses({ description }: EditableDomain, folder: string, disks: readonly DiskVolume[]): boolean {
    return disks.every(({ target, name }) =>
      description.disks.some((disk) => disk.target === target && disk.path === `${folder}/${name}`),
    );
  }

  /** Removes volumes that the change created and that no domain uses, and the record of the change. */
  async undo(uuid: string, names: readonly string[]): Promise<void> {
    // libvirt's pool does not know a file with memory, which QEMU has written, until it is refreshed.
    if (names.length > 0) await this.deps.pool.volumes();
    for (const name of names) await this.deps.pool.remove(name);
    await this.deps.editor.updateMetadata(uuid, ({ pending: _undone, ...metadata }) => ({
      ...metadata,
      volumes: metadata.volumes.filter(({ name }) => !names.includes(name)),
    }));
  }
}

/**
 * The volumes that a snapshot or a restore has created. The TPM's state and the memory of a restore belong to the
 * snapshot.
 */
export const volumesOf = ({ kind, disks, nvram, tpm, memory }: PendingChange): string[] => [
  ...disks.map(({ name }) => name),
  ...(nvram === undefined ? [] : [nvram]),
  ...[tpm, memory].filter((name) => name !== undefined && kind !== 'restore').map(String),
];

/** Gives volumes another role. */
export const withRole = (
  volumes: readonly OwnedVolume[],
  names: ReadonlySet<string>,
  role: VolumeRole,
): OwnedVolume[] => volumes.map((volume) => (names.has(volume.name) ? { ...volume, role } : volume));
