import { DomainError } from '@headgate/domain-contracts';
import type { IncusApi } from '../api/incus-api.js';
import type { Config, InstanceObject } from '../api/incus-objects.js';
import { uidOf } from '../engine/api-names.js';
import { isOwnKey, KEY } from '../engine/config-keys.js';

/** A volume of the kind `custom`. */
export interface VolumePlace {
  readonly pool: string;
  readonly project: string;
  readonly name: string;
}

export interface VolumeObject {
  readonly name: string;
  readonly config: Config;
}

/** The device of a container that has its data volume. */
export const DATA_DEVICE = 'data';
/** The mount path of the data volume. */
export const DATA_PATH = '/data';

export const dataVolumeName = (container: string): string => `${container}-ct-data`;

export const volumePath = ({ pool, name }: VolumePlace): string =>
  `/1.0/storage-pools/${encodeURIComponent(pool)}/volumes/custom/${encodeURIComponent(name)}`;

export async function findVolume(api: IncusApi, place: VolumePlace): Promise<VolumeObject | undefined> {
  try {
    return await api.get<VolumeObject>(volumePath(place), { project: place.project });
  } catch (error) {
    if (DomainError.is(error, 'VOLUME_NOT_FOUND')) return undefined;
    throw error;
  }
}

/** @throws DomainError ALREADY_EXISTS */
export async function createVolume(
  api: IncusApi,
  { pool, project, name }: VolumePlace,
  { sizeBytes, creation }: { readonly sizeBytes: number; readonly creation: string },
): Promise<void> {
  const config = { size: `${sizeBytes}B`, [KEY.creation]: creation };
  await api.send('POST', `/1.0/storage-pools/${encodeURIComponent(pool)}/volumes/custom`, {
    query: { project },
    body: { name, content_type: 'filesystem', config },
  });
}

/** Copies a volume without its snapshots. @throws DomainError ALREADY_EXISTS */
export async function copyVolume(
  api: IncusApi,
  from: VolumePlace,
  { name, creation }: { readonly name: string; readonly creation: string },
): Promise<void> {
  const { pool, project } = from;
  const found = await findVolume(api, from);
  if (!found) throw new DomainError('VOLUME_NOT_FOUND', `There is no volume ${from.name} in the storage pool ${pool}.`);
  // With the map of the user IDs that its files have: without it, the server would map them once more.
  const config = Object.fromEntries(Object.entries(found.config).filter(([key]) => !isOwnKey(key)));
  await api.send('POST', `/1.0/storage-pools/${encodeURIComponent(pool)}/volumes/custom`, {
    query: { project },
    body: {
      name,
      content_type: 'filesystem',
      config: { ...config, [KEY.creation]: creation },
      source: { type: 'copy', name: from.name, pool, project, volume_only: true },
    },
  });
}

/** Records with which instance the volume is deleted. */
export async function assignVolume(api: IncusApi, place: VolumePlace, instance: InstanceObject): Promise<void> {
  await configureVolume(api, place, { [KEY.instance]: uidOf(instance) });
}

/** Sets keys of the configuration; the others stay. */
export async function configureVolume(api: IncusApi, place: VolumePlace, config: Config): Promise<void> {
  await api.send('PATCH', volumePath(place), { query: { project: place.project }, body: { config } });
}

/** The volume that was created with this very instance, not with that of which it is a copy, nor by other clients. */
export async function ownVolume(api: IncusApi, instance: InstanceObject): Promise<VolumePlace | undefined> {
  const { type, pool, source } = instance.devices[DATA_DEVICE] ?? {};
  if (type !== 'disk' || pool === undefined || source === undefined) return undefined;
  const place = { pool, project: instance.project, name: source };
  const volume = await findVolume(api, place);
  return volume?.config[KEY.instance] === uidOf(instance) ? place : undefined;
}

/** Does nothing if it does not exist, or belongs to another creation than the given one. */
export async function deleteVolume(api: IncusApi, place: VolumePlace, creation?: string): Promise<void> {
  if (creation !== undefined && (await findVolume(api, place))?.config[KEY.creation] !== creation) return;
  try {
    await api.send('DELETE', volumePath(place), { query: { project: place.project } });
  } catch (error) {
    if (!DomainError.is(error, 'VOLUME_NOT_FOUND')) throw error;
  }
}
