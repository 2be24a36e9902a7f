import type { VmView } from '@headgate/api-contracts';
import type { ListKind } from '../../shared/list/list-kind.js';
import { places } from '../../shared/location/places.js';
import { VM_COLUMNS } from './vm-columns.js';

export const VM_KIND: ListKind<VmView> = {
  collection: 'vms',
  title: 'Instances',
  one: 'instance',
  many: 'instances',
  place: places.fleet,
  pageOf: (vm) => places.vm(vm),
  columns: VM_COLUMNS,
};
