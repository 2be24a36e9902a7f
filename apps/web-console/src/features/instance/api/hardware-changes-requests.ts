import { useQuery } from '@tanstack/react-query';
import type { HardwareChangeDto, HardwareChangesPlanView, HardwareChangesView } from '@headgate/api-contracts';
import { sendRequest, type ApiRequest } from '../../../shared/actions/api-request.js';
import { extensionPath } from '../../../shared/api/instance-path.js';
import { detailsKey, type ReadInstance } from './details-path.js';

/** Several changes of the hardware as one request. */
export const changesRequest = (
  vm: ReadInstance,
  changes: readonly HardwareChangeDto[],
  isRestarted: boolean,
): ApiRequest => ({
  method: 'POST',
  path: `${extensionPath(vm, vm.collection)}/hardware`,
  query: { context: vm.context, ...(isRestarted && { restart: true }) },
  body: { changes },
});

export const planChanges = (request: ApiRequest, signal?: AbortSignal): Promise<HardwareChangesPlanView> =>
  sendRequest(request, { dryRun: true, ...(signal && { signal }) });

export const sendChanges = (request: ApiRequest): Promise<HardwareChangesView> => sendRequest(request);

/** When each of the typed changes would take effect, or why it is refused; undefined while nothing is typed. */
export const useRehearsal = (vm: ReadInstance, changes: readonly HardwareChangeDto[], state: string) =>
  useQuery({
    enabled: changes.length > 0,
    queryKey: ['hardware-rehearsal', ...detailsKey(vm), changes, state],
    queryFn: ({ signal }) => planChanges(changesRequest(vm, changes, false), signal),
    staleTime: 0,
    gcTime: 0,
    retry: false,
  });
