import { useQueries, useQuery } from '@tanstack/react-query';
import type {
  AcceptedView,
  AddBackupTargetDto,
  BackupPointView,
  CleanBackupsDto,
  PlanView,
  ProveBackupDto,
  RestoreBackupDto,
  RestoreDisksDto,
  SignedProofView,
} from '@headgate/api-contracts';
import { extensionPath, type InstanceAddress } from '../api/instance-path.js';
import { deleteJson, getJson, postJson } from '../api/request.js';

const TARGETS = '/api/ext/backups/targets';
/** Points come from tasks and other services, and each request reads the list of a target. */
const REFRESH_INTERVAL_MS = 30_000;
const PLANNED = { dryRun: true } as const;
/** The targets, their states and their points. */
export const BACKUPS_KEY = ['backups'] as const;

export const useBackupTargets = (enabled = true) =>
  useQuery({
    queryKey: [...BACKUPS_KEY, 'targets'],
    queryFn: ({ signal }) => getJson(TARGETS, { signal }),
    refetchInterval: REFRESH_INTERVAL_MS,
    enabled,
  });

export const useTargetState = (id: string, enabled: boolean) =>
  useQuery({
    queryKey: [...BACKUPS_KEY, 'state', id],
    queryFn: ({ signal }) => getJson(`${TARGETS}/${id}/state`, { signal }),
    refetchInterval: REFRESH_INTERVAL_MS,
    enabled,
  });

const pointsQuery = (target: string, ref?: string) => ({
  queryKey: [...BACKUPS_KEY, 'points', target, ref],
  queryFn: ({ signal }: { signal: AbortSignal }): Promise<BackupPointView[]> =>
    getJson(`${TARGETS}/${target}/points`, { ...(ref !== undefined && { query: { ref } }), signal }),
  refetchInterval: REFRESH_INTERVAL_MS,
});

export const useBackupPoints = (target: string) => useQuery(pointsQuery(target));

/** The points of a VM in each target. */
export const usePointsOf = (ref: string, targets: readonly string[]) =>
  useQueries({ queries: targets.map((target) => pointsQuery(target, ref)) });

/** A change with its plan. */
export interface BackupChange<T = unknown> {
  readonly preview: (signal: AbortSignal) => Promise<PlanView>;
  readonly run: () => Promise<T>;
}

export const addingTarget = (body: AddBackupTargetDto): BackupChange => ({
  preview: (signal) => postJson(TARGETS, { body, query: PLANNED, signal }),
  run: () => postJson(TARGETS, { body }),
});

export const removingTarget = (id: string): BackupChange => ({
  preview: (signal) => deleteJson(`${TARGETS}/${id}`, { query: PLANNED, signal }),
  run: () => deleteJson(`${TARGETS}/${id}`),
});

export const checkingTarget = (id: string, readData: boolean): BackupChange<AcceptedView> => ({
  preview: (signal) => postJson(`${TARGETS}/${id}/check`, { body: { readData }, query: PLANNED, signal }),
  run: () => postJson(`${TARGETS}/${id}/check`, { body: { readData } }),
});

export const cleaningTarget = (id: string, body: CleanBackupsDto): BackupChange<AcceptedView> => ({
  preview: (signal) => postJson(`${TARGETS}/${id}/clean`, { body, query: PLANNED, signal }),
  run: () => postJson(`${TARGETS}/${id}/clean`, { body }),
});

export const deletingPoint = (target: string, point: string): BackupChange => ({
  preview: (signal) => deleteJson(`${TARGETS}/${target}/points/${point}`, { query: PLANNED, signal }),
  run: () => deleteJson(`${TARGETS}/${target}/points/${point}`),
});

export const restoringPoint = (target: string, point: string, body: RestoreBackupDto): BackupChange<AcceptedView> => ({
  preview: (signal) => postJson(`${TARGETS}/${target}/points/${point}/restore`, { body, query: PLANNED, signal }),
  run: () => postJson(`${TARGETS}/${target}/points/${point}/restore`, { body }),
});

/** @param how `replace-disks`: in place. `add-disks`: next to the disks that the VM has. */
export const restoringDisks = (
  target: string,
  point: string,
  { how, body }: { readonly how: 'replace-disks' | 'add-disks'; readonly body: RestoreDisksDto },
): BackupChange<AcceptedView> => {
  const route = `${TARGETS}/${target}/points/${point}/${how}` as const;
  return {
    preview: (signal) => postJson(route, { body, query: PLANNED, signal }),
    run: () => postJson(route, { body }),
  };
};

export const provingPoint = (target: string, point: string, body: ProveBackupDto): BackupChange<AcceptedView> => ({
  preview: (signal) => postJson(`${TARGETS}/${target}/points/${point}/prove`, { body, query: PLANNED, signal }),
  run: () => postJson(`${TARGETS}/${target}/points/${point}/prove`, { body }),
});

/** The signed certificate of the last boot. */
export const readProof = (target: string, point: string): Promise<SignedProofView> =>
  getJson(`${TARGETS}/${target}/points/${point}/proof`);

export function backingUp(address: InstanceAddress, target: string): BackupChange<AcceptedView> {
  const { context } = address;
  const route = `${extensionPath(address)}/backup` as const;
  return {
    preview: (signal) => postJson(route, { body: { target }, query: { context, ...PLANNED }, signal }),
    run: () => postJson(route, { body: { target }, query: { context } }),
  };
}
