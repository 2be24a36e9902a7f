import { useQuery } from '@tanstack/react-query';
import type { AcceptedView, HardwareStatusView, PlanView } from '@headgate/api-contracts';
import { extensionPath, instancePath, type InstanceAddress } from '../../../shared/api/instance-path.js';
import { deleteJson, getJson, postJson } from '../../../shared/api/request.js';
import type { ChangeBelow, PathOf } from '@headgate/api-routes';
import { detailsKey, type ReadInstance } from './details-path.js';

type Change<Root extends string> = ChangeBelow<Root, 'post'> | ChangeBelow<Root, 'delete'>;

/** A change of the hardware, as a request that can be rehearsed. Its path is below that of the VM. */
export type HardwareChangeRequest = {
  /** Completes the title of its dialog, such as `Detach data from web-1`. */
  readonly title: string;
  /** The text of its button. */
  readonly label: string;
  readonly isDanger?: boolean;
  /** The fields whose drafts end when it is carried out. */
  readonly drafts?: readonly string[];
  readonly query?: Readonly<Record<string, string>>;
} & (
  | (Change<'/api/vms/{ns}/{name}'> & { readonly isExtension?: false })
  /** A route of the extensions of the API. */
  | (Change<'/api/ext/vms/{ns}/{name}'> & { readonly isExtension: true })
);

/** How often the hardware is read again while a change is being applied. */
const APPLYING_INTERVAL_MS = 2000;

export const hardwareKey = (instance: ReadInstance) => ['hardware', ...detailsKey(instance)];

/** The virtual hardware of a VM, or the limits and devices of a container. */
export const useHardware = (vm: ReadInstance, isAvailable: boolean) =>
  useQuery({
    enabled: isAvailable,
    queryKey: hardwareKey(vm),
    queryFn: ({ signal }) =>
      getJson(`${extensionPath(vm, vm.collection)}/hardware`, { query: { context: vm.context }, signal }),
    refetchInterval: ({ state: { data } }) => ((data?.applying?.length ?? 0) > 0 ? APPLYING_INTERVAL_MS : false),
  });

/** The devices of the hosts of the VM's context. */
export const useHostResources = ({ context }: InstanceAddress, isWanted: boolean) =>
  useQuery({
    enabled: isWanted,
    queryKey: ['host-resources', context],
    queryFn: ({ signal }) => getJson('/api/ext/host-resources', { query: { context }, signal }),
  });

/** The type of a change has the routes, so its path is one of them. */
function sendChange(vm: InstanceAddress, change: HardwareChangeRequest, options: { dryRun?: true }): Promise<unknown> {
  const { method, path, isExtension = false, body, query = {} } = change;
  const url = `${isExtension ? extensionPath(vm) : instancePath('vms', vm)}/${path}`;
  const request = { query: { context: vm.context, ...query, ...options }, ...(body && { body }) } as object;
  return method === 'POST' ? postJson(url as PathOf<'post'>, request) : deleteJson(url as PathOf<'delete'>, request);
}

export const previewHardware = (vm: InstanceAddress, change: HardwareChangeRequest) =>
  sendChange(vm, change, { dryRun: true }) as Promise<PlanView>;

/** @returns the task that continues the change, if there is one, and the settings that the guest does not have yet */
export const changeHardware = (vm: InstanceAddress, change: HardwareChangeRequest) =>
  sendChange(vm, change, {}) as Promise<Partial<AcceptedView & HardwareStatusView>>;
