import type { VmView } from '@headgate/api-contracts';
import type { ListKind } from '../../shared/list/list-kind.js';
import { paths } from '../../shared/location/paths.js';
import type { Usages } from '../../shared/fleet/use-usage.js';
import { vmColumns } from './vm-columns.js';

/** @param usages what the list shows as the usage of its VMs */
export const vmKind = (usages: Usages): ListKind<VmView> => ({
  collection: 'vms',
  title: 'Virtual machines',
  singular: 'VM',
  plural: 'VMs',
  path: paths.fleet,
  pageOf: (vm) => paths.vm(vm),
  columns: vmColumns(usages),
});
