import type { AcceptedView, MigrateVmDto, StatusView, TagDto, VmView } from '@headgate/api-contracts';
import { instancePath, type InstanceAddress, type InstanceCollection } from '../api/instance-path.js';
import { deleteJson, postJson } from '../api/request.js';

export const migrateVm = (vm: VmView, request: MigrateVmDto): Promise<AcceptedView> =>
  postJson(`${instancePath('vms', vm)}/migrate`, { body: request, query: { context: vm.context } });

export const setTag = (vm: VmView, tag: TagDto): Promise<TagDto> =>
  postJson(`${instancePath('vms', vm)}/tags`, { body: tag, query: { context: vm.context } });

/** Deletes an instance and everything it owns. */
export const removeInstance = (collection: InstanceCollection, address: InstanceAddress): Promise<StatusView> =>
  deleteJson(instancePath(collection, address), { query: { context: address.context } });
