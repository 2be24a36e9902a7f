import { useQuery } from '@tanstack/react-query';
import type { AcceptedView, HardwareView, HostResourcesView, PlanView } from '@headgate/api-contracts';
import { instancePath, type InstanceAddress } from '../../../shared/api/instance-path.js';
import { deleteJson, getJson, postJson } from '../../../shared/api/request.js';

/** A change of the hardware, as a request that can be rehearsed. */
export interface HardwareChangeRequest {
  /** Completes the title of its dialog, such as `Detach data from web-1`. */
  readonly title: string;
  /** The text of its button. */
  readonly label: string;
  readonly isDanger?: boolean;
  readonly method: 'POST' | 'DELETE';
  /** Below the path of the VM. */
  readonly path: string;
  /** Whether the route is one of the extensions of the API. */
  readonly isExtension?: boolean;
  readonly body?: object;
  readonly query?: Readonly<Record<string, string>>;
}

const extensionPath = (vm: InstanceAddress): string => instancePath('vms', vm).replace('/api/', '/api/ext/');

export const hardwareKey = ({ context, namespace, name }: InstanceAddress) => ['hardware', context, namespace, name];

/** The virtual hardware of a VM. */
export const useHardware = (vm: InstanceAddress, isAvailable: boolean) =>
  useQuery({
    enabled: isAvailable,
    queryKey: hardwareKey(vm),
    queryFn: ({ signal }) =>
      getJson<HardwareView>(`${extensionPath(vm)}/hardware`, { query: { context: vm.context }, signal }),
  });

/** The devices of the hosts of the VM's context. */
export const useHostResources = ({ context }: InstanceAddress, isWanted: boolean) =>
  useQuery({
    enabled: isWanted,
    queryKey: ['host-resources', context],
    queryFn: ({ signal }) => getJson<HostResourcesView>('/api/ext/host-resources', { query: { context }, signal }),
  });

function sendChange<T>(vm: InstanceAddress, change: HardwareChangeRequest, options: object): Promise<T> {
  const { method, path, isExtension = false, body, query = {} } = change;
  const url = `${isExtension ? extensionPath(vm) : instancePath('vms', vm)}/${path}`;
  const request = { query: { context: vm.context, ...query, ...options }, ...(body && { body }) };
  return method === 'POST' ? postJson<T>(url, request) : deleteJson<T>(url, request);
}

export const previewHardware = (vm: InstanceAddress, change: HardwareChangeRequest): Promise<PlanView> =>
  sendChange(vm, change, { dryRun: 'true' });

/** @returns the task that continues the change, if there is one */
export const changeHardware = (vm: InstanceAddress, change: HardwareChangeRequest): Promise<Partial<AcceptedView>> =>
  sendChange(vm, change, {});
