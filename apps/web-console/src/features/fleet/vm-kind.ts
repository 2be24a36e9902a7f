import type { VmView } from '@headgate/api-contracts';
import type { ListKind } from '../../shared/list/list-kind.js';
import { paths } from '../../shared/location/paths.js';
import { VM_COLUMNS } from './vm-columns.js';

export const VM_KIND: ListKind<VmView> = {
  collection: 'vms',
  title: 'Virtual machines',
  singular: 'VM',
  plural: 'VMs',
  path: paths.fleet,
  pageOf: (vm) => paths.vm(vm),
  columns: VM_COLUMNS,
};
