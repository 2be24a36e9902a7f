import type { StatusView } from '@headgate/api-contracts';
import { instancePath, type InstanceAddress } from '../../../shared/api/instance-path.js';
import { postJson } from '../../../shared/api/request.js';

export type ContainerAction = 'start' | 'stop';

export const runContainerAction = (address: InstanceAddress, action: ContainerAction): Promise<StatusView> =>
  postJson<StatusView>(`${instancePath('cts', address)}/${action}`, { query: { context: address.context } });
