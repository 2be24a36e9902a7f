import { Readable } from 'node:stream';
import { DomainError, messageOf } from '@headgate/domain-contracts';
import type { InstanceObject } from '../api/incus-objects.js';
import { IncusError } from '../api/translate-error.js';
import { whenIdle } from '../api/when-idle.js';
import type { IncusEngine } from '../engine/incus-engine.js';
import { instancePath } from '../engine/instance-finder.js';
import { volumePath, type VolumePlace } from '../provisioning/data-volume.js';

/** An instance or a volume whose backups are read. */
export interface BackupSource {
  readonly project: string;
  readonly name: string;
  /** The path of the object in the API. */
  readonly path: string;
}

/** The server removes the backup of a service that does not come back. */
const LIFETIME_MS = 24 * 60 * 60_000;

export const rootOf = (instance: InstanceObject): BackupSource => ({
  project: instance.project,
  name: instance.name,
  path: instancePath(instance),
});

export const contentOf = (volume: VolumePlace): BackupSource => ({
  project: volume.project,
  name: volume.name,
  path: volumePath(volume),
});

/** Of the move with the ID. */
const backupName = (id: string): string => `headgate-${id}`;

/**
 * Creates a backup with all snapshots, and reads it. The server keeps the whole backup as a file until the stream has
 * ended or was destroyed.
 */
export async function openBackup(
  engine: IncusEngine,
  source: BackupSource,
  { id, signal }: { readonly id: string; readonly signal: AbortSignal },
): Promise<Readable> {
  const { api, clock, context } = engine;
  await deleteBackup(engine, source, id);
  const query = { project: source.project };
  const body = {
    name: backupName(id),
    expires_at: new Date(clock.now() + LIFETIME_MS).toISOString(),
    compression_algorithm: 'none',
    optimized_storage: false,
    // One of them is for instances, the other one for volumes.
    instance_only: false,
    volume_only: false,
  };
  const remove = (): Promise<void> => deleteBackup(engine, source, id);
  try {
    await whenIdle(api, source, () => api.send('POST', `${source.path}/backups`, { query, body, signal }));
    const file = await api.stream(`${source.path}/backups/${backupName(id)}/export`, { query, signal });
    return Readable.from(readAndRemove(file, remove, context), { objectMode: false });
  } catch (error) {
    await remove().catch(() => undefined);
    throw error;
  }
}

/** Does nothing if there is none. */
export async function deleteBackup({ api }: IncusEngine, source: BackupSource, id: string): Promise<void> {
  const query = { project: source.project };
  try {
    await whenIdle(api, source, () => api.send('DELETE', `${source.path}/backups/${backupName(id)}`, { query }));
  } catch (error) {
    const isGone = IncusError.has(error, /backup not found/i);
    if (!isGone && !DomainError.is(error, 'INSTANCE_NOT_FOUND', 'VOLUME_NOT_FOUND')) throw error;
  }
}

async function* readAndRemove(file: Readable, remove: () => Promise<void>, context: string): AsyncGenerator<Buffer> {
  try {
    yield* file as AsyncIterable<Buffer>;
  } catch (error) {
    throw new DomainError('BACKEND_UNREACHABLE', `${context}: the backup ended in the middle (${messageOf(error)}).`);
  } finally {
    file.destroy();
    // It expires if the server is away.
    await remove().catch(() => undefined);
  }
}
