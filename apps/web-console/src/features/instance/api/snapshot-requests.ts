import { useQuery } from '@tanstack/react-query';
import type {
  ClonedView,
  CreatedSnapshotView,
  CreateSnapshotDto,
  PlanView,
  TemplateView,
} from '@headgate/api-contracts';
import type { ApiRequest } from '../../../shared/actions/api-request.js';
import { instancePath, type InstanceAddress } from '../../../shared/api/instance-path.js';
import { getJson, postJson } from '../../../shared/api/request.js';
import { SNAPSHOTS_KEY } from '../../../shared/queries/snapshots-key.js';
import { detailsKey, detailsPath, type ReadInstance } from './details-path.js';

const snapshotsPath = (instance: ReadInstance) => `${detailsPath(instance)}/snapshots` as const;
const snapshotPath = (instance: ReadInstance, name: string) =>
  `${snapshotsPath(instance)}/${encodeURIComponent(name)}` as const;
const inContext = ({ context }: InstanceAddress) => ({ query: { context } });

/** How often a list with unfinished snapshots is read again. */
const UNFINISHED_INTERVAL_MS = 2000;

export const snapshotsKey = (instance: ReadInstance) => [SNAPSHOTS_KEY, ...detailsKey(instance)];

/** The snapshots of an instance, the oldest first. */
export const useSnapshots = (vm: ReadInstance) =>
  useQuery({
    queryKey: snapshotsKey(vm),
    queryFn: ({ signal }) => getJson(snapshotsPath(vm), { ...inContext(vm), signal }),
    refetchInterval: ({ state }) =>
      state.data?.some(({ phase }) => phase === 'InProgress' || phase === 'Deleting') ? UNFINISHED_INTERVAL_MS : false,
  });

export const createSnapshot = (vm: ReadInstance, body: CreateSnapshotDto): Promise<CreatedSnapshotView> =>
  postJson(snapshotsPath(vm), { body, ...inContext(vm) });

/** The restore or the deletion of a snapshot. Both can be rehearsed. */
export const snapshotRequest = (vm: ReadInstance, name: string, action: 'restore' | 'delete'): ApiRequest => ({
  ...(action === 'restore'
    ? { method: 'POST' as const, path: `${snapshotPath(vm, name)}/restore` as const }
    : { method: 'DELETE' as const, path: snapshotPath(vm, name) }),
  ...inContext(vm),
});

export const cloneInstance = (vm: ReadInstance, target: string): Promise<ClonedView> =>
  postJson(`${detailsPath(vm)}/clone`, { body: { target }, ...inContext(vm) });

/** The steps of a clone, and what it does not get. */
export const previewClone = (vm: ReadInstance, target: string, signal: AbortSignal): Promise<PlanView> =>
  postJson(`${detailsPath(vm)}/clone`, {
    body: { target },
    query: { context: vm.context, dryRun: true },
    signal,
  });

export const setTemplate = (vm: InstanceAddress, on: boolean): Promise<TemplateView> =>
  postJson(`${instancePath('vms', vm)}/template`, { body: { on }, ...inContext(vm) });
