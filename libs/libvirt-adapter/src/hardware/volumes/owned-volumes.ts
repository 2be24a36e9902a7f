import { DomainError } from '@headgate/domain-contracts';
import type { OwnedVolume } from '../../domain-xml/instance-metadata.js';
import type { VolumeDeps } from './volume-deps.js';

/** The volumes that a domain's metadata lists as its own, which are deleted with it. */
export class OwnedVolumes {
  constructor(private readonly deps: Pick<VolumeDeps, 'connection' | 'editor' | 'mark' | 'pool'>) {}

  /**
   * The domain lists a volume before it exists, so that it is removed if this process ends before the disk is attached.
   */
  async add(uuid: string, volume: OwnedVolume): Promise<void> {
    await this.deps.editor.updateMetadata(uuid, (metadata) => ({
      ...metadata,
      volumes: [...metadata.volumes, volume],
    }));
  }

  /** The volume is in use, so nothing about it is unfinished. */
  async settle(uuid: string, name: string): Promise<void> {
    await this.deps.editor.updateMetadata(uuid, (metadata) => ({
      ...metadata,
      volumes: metadata.volumes.map(({ pending, ...volume }) =>
        volume.name === name || pending === undefined ? volume : { ...volume, pending },
      ),
    }));
  }

  /** Replaces the entry of a volume, or removes it. */
  async set(uuid: string, { pool, name }: OwnedVolume, next: OwnedVolume | undefined): Promise<void> {
    await this.deps.editor.updateMetadata(uuid, (metadata) => ({
      ...metadata,
      volumes: [
        ...metadata.volumes.filter((volume) => volume.pool !== pool || volume.name !== name),
        ...(next ? [next] : []),
      ],
    }));
  }

  /** Removes the volumes of a domain that this service was adding or deleting and that no disk uses. */
  async dropUnused(uuid: string): Promise<void> {
    const { editor, pool, mark, connection } = this.deps;
    const { description } = await editor.read(uuid);
    const { metadata } = description;
    if (metadata.owner !== uuid) return;
    const pending = metadata.volumes.filter((volume) => volume.pending === mark());
    if (pending.length === 0) return;
    const [documents] = await connection.domains.documents([{ uuid, name: description.name }]);
    const { xml = '', persistentXml = '' } = documents ?? {};
    for (const volume of pending) {
      const isUsed =
        `${xml.replace(/<metadata>[\s\S]*<\/metadata>/, '')}${persistentXml.replace(/<metadata>[\s\S]*<\/metadata>/, '')}`.includes(
          volume.name,
        );
      if (!isUsed) {
        if (volume.pool === pool.name) await pool.remove(volume.name);
        else await connection.storage.deleteVolume(volume).catch(ignoreMissing);
        await this.set(uuid, volume, undefined);
      } else await this.settle(uuid, volume.name);
    }
  }
}

function ignoreMissing(error: unknown): void {
  if (!DomainError.is(error, 'VOLUME_NOT_FOUND')) throw error;
}
