import { BACKUP_CONSISTENCIES, parseRef, type BackupConsistency, type InstanceRef } from '@headgate/domain-contracts';
import type { StoredSnapshot } from './backup-store.js';

/** A VM as it was at one moment, in a target. */
export interface BackupPoint {
  readonly id: string;
  /** ISO 8601. */
  readonly time: string;
  /** The backend's ID of the VM: another VM of the same name has other points. */
  readonly uid: string;
  /** The ref that the VM had, as text. */
  readonly ref: string;
  readonly consistency: BackupConsistency;
  /** The checkpoint of its moment, if there was one. */
  readonly checkpoint?: string;
  /** The ID of the task that has created it. */
  readonly task: string;
  /** The ID that the target had in the service that has created it: another service has other IDs. */
  readonly series: string;
  /** The ID of the schedule that has created it. Only its rules delete it without a request. */
  readonly schedule?: string;
  /** The sizes of the disks. */
  readonly sizeBytes: number;
}

const MARK = 'headgate';

/** The properties of a point as tags of its snapshot, so that a list reads no manifests. */
export function tagsOf({ sizeBytes, ...point }: Omit<BackupPoint, 'id' | 'time'>): string[] {
  const { uid, ref, consistency, checkpoint, task, series, schedule } = point;
  const pairs = { uid, ref, consistency, checkpoint, task, series, schedule, bytes: String(sizeBytes) };
  return [MARK, ...Object.entries(pairs).flatMap(([key, value]) => (value === undefined ? [] : [`${key}=${value}`]))];
}

/** @returns undefined for the snapshot of another program */
export function pointOf({ id, time, tags }: StoredSnapshot): BackupPoint | undefined {
  if (!tags.includes(MARK)) return undefined;
  const valueOf = (key: string): string | undefined =>
    tags.find((tag) => tag.startsWith(`${key}=`))?.slice(key.length + 1);
  const [uid, ref, task, series] = ['uid', 'ref', 'task', 'series'].map(valueOf);
  const [checkpoint, schedule] = ['checkpoint', 'schedule'].map(valueOf);
  const consistency = BACKUP_CONSISTENCIES.find((one) => one === valueOf('consistency'));
  const sizeBytes = Number(valueOf('bytes'));
  if (
    !uid ||
    !ref ||
    !task ||
    !series ||
    !consistency ||
    !Number.isSafeInteger(sizeBytes) ||
    Number.isNaN(Date.parse(time))
  )
    return undefined;
  return {
    id,
    time,
    uid,
    ref,
    consistency,
    task,
    series,
    sizeBytes,
    ...(checkpoint !== undefined && { checkpoint }),
    ...(schedule !== undefined && { schedule }),
  };
}

/** The points among snapshots, the newest first. */
export const pointsOf = (snapshots: readonly StoredSnapshot[]): BackupPoint[] =>
  snapshots
    .flatMap((snapshot) => pointOf(snapshot) ?? [])
    .sort((a, b) => Date.parse(b.time) - Date.parse(a.time) || (a.id < b.id ? -1 : 1));

/** The VM of a point, for a boot. Other programs can write the repository, so its ref may be none. */
export function originOf({ ref }: Pick<BackupPoint, 'ref'>): { readonly origin?: InstanceRef } {
  try {
    return { origin: parseRef(ref) };
  } catch {
    return {};
  }
}

export const MANIFEST_PATH = '/manifest.json';
export const VARIABLES_PATH = '/firmware-variables';
/** The names of devices come from engines, and are no paths. */
export const diskPath = (name: string): string => `/disks/${encodeURIComponent(name).replaceAll('.', '%2E')}.raw`;
