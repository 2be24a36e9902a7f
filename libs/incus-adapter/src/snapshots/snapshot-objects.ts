import { DomainError } from '@headgate/domain-contracts';
import type { IncusApi } from '../api/incus-api.js';
import type { Config, InstanceObject } from '../api/incus-objects.js';
import { whenIdle } from '../api/when-idle.js';
import { instancePath } from '../engine/instance-finder.js';
import { markIn } from '../engine/operation-mark.js';
import { volumePath, type VolumePlace } from '../provisioning/data-volume.js';

/** https://linuxcontainers.org/incus/docs/main/rest-api-spec/ `InstanceSnapshot` and `StorageVolumeSnapshot` */
export interface SnapshotObject {
  readonly name: string;
  readonly created_at: string;
  /** That of the instance or of the volume at that moment. */
  readonly config: Config;
}

const partOf = (name: string): string => encodeURIComponent(name);
const inProject = ({ project }: { readonly project: string }) => ({ query: { project } });

/** The snapshots of the root of an instance, the oldest first. */
export async function rootSnapshots(api: IncusApi, instance: InstanceObject): Promise<readonly SnapshotObject[]> {
  const found = await api.get<readonly SnapshotObject[]>(`${instancePath(instance)}/snapshots`, {
    recursion: 1,
    project: instance.project,
  });
  // All times are in UTC, with nanoseconds.
  return [...found].sort((one, other) => (one.created_at < other.created_at ? -1 : 1));
}

export async function saveRoot(api: IncusApi, instance: InstanceObject, name: string): Promise<void> {
  await whenIdle(api, instance, () =>
    api.send('POST', `${instancePath(instance)}/snapshots`, {
      ...inProject(instance),
      body: { name, stateful: false },
    }),
  );
}

export async function restoreRoot(api: IncusApi, instance: InstanceObject, name: string): Promise<void> {
  await whenIdle(api, instance, () =>
    api.send('PUT', instancePath(instance), { ...inProject(instance), body: { restore: name, stateful: false } }),
  );
}

/** Does nothing if it does not exist. */
export async function deleteRootSnapshot(api: IncusApi, instance: InstanceObject, name: string): Promise<void> {
  await whenIdle(api, instance, () =>
    api.send('DELETE', `${instancePath(instance)}/snapshots/${partOf(name)}`, inProject(instance)),
  ).catch(ignoreMissing);
}

export async function findVolumeSnapshot(
  api: IncusApi,
  volume: VolumePlace,
  name: string,
): Promise<SnapshotObject | undefined> {
  try {
    return await api.get<SnapshotObject>(`${volumePath(volume)}/snapshots/${partOf(name)}`, {
      project: volume.project,
    });
  } catch (error) {
    ignoreMissing(error);
    return undefined;
  }
}

export async function saveVolume(api: IncusApi, volume: VolumePlace, name: string): Promise<void> {
  await api.send('POST', `${volumePath(volume)}/snapshots`, { ...inProject(volume), body: { name } });
}

export async function restoreVolume(api: IncusApi, volume: VolumePlace, name: string): Promise<void> {
  await api.send('PUT', volumePath(volume), { ...inProject(volume), body: { restore: name } });
}

/** Does nothing if it does not exist. */
export async function deleteVolumeSnapshot(api: IncusApi, volume: VolumePlace, name: string): Promise<void> {
  await api.send('DELETE', `${volumePath(volume)}/snapshots/${partOf(name)}`, inProject(volume)).catch(ignoreMissing);
}

/** Whether both were taken together by this service. */
export const isPair = (root: SnapshotObject, data: SnapshotObject | undefined): boolean =>
  data !== undefined && markIn(data) !== undefined && markIn(data) === markIn(root);

function ignoreMissing(error: unknown): void {
  if (!DomainError.is(error, 'SNAPSHOT_NOT_FOUND', 'VOLUME_NOT_FOUND')) throw error;
}
