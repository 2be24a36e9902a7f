import { DomainError } from '@headgate/domain-contracts';
import type { IncusApi } from '../api/incus-api.js';
import type { Config, InstanceObject } from '../api/incus-objects.js';
import { uidOf } from '../engine/api-names.js';
import { KEY } from '../engine/config-keys.js';

/** A volume of the kind `custom`. */
export interface VolumePlace {
  readonly pool: string;
  readonly project: string;
  readonly name: string;
}

interface VolumeObject {
  readonly name: string;
  readonly config: Config;
}

/** The device of a container that has its data volume. */
export const DATA_DEVICE = 'data';
/** The mount path of the data volume. */
export const DATA_PATH = '/data';

export const dataVolumeName = (container: string): string => `${container}-ct-data`;

const pathOf = ({ pool, name }: VolumePlace): string =>
  `/1.0/storage-pools/${encodeURIComponent(pool)}/volumes/custom/${encodeURIComponent(name)}`;

export async function findVolume(api: IncusApi, place: VolumePlace): Promise<VolumeObject | undefined> {
  try {
    return await api.get<VolumeObject>(pathOf(place), { project: place.project });
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

/** Records with which instance the volume is deleted. */
export async function assignVolume(api: IncusApi, place: VolumePlace, instance: InstanceObject): Promise<void> {
  await api.send('PATCH', pathOf(place), {
    query: { project: place.project },
    body: { config: { [KEY.instance]: uidOf(instance) } },
  });
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
    await api.send('DELETE', pathOf(place), { query: { project: place.project } });
  } catch (error) {
    if (!DomainError.is(error, 'VOLUME_NOT_FOUND')) throw error;
  }
}
