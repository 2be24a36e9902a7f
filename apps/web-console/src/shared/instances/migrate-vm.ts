import type { AcceptedView, MigrateVmDto, VmView } from '@headgate/api-contracts';
import { instancePath } from '../api/instance-path.js';
import { postJson } from '../api/request.js';

export const migrateVm = (vm: VmView, request: MigrateVmDto): Promise<AcceptedView> =>
  postJson<AcceptedView>(`${instancePath('vms', vm)}/migrate`, { body: request, query: { context: vm.context } });
