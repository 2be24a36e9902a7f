import { t, plural } from '@lingui/core/macro';
import type { VmView } from '@headgate/api-contracts';
import type { ListKind } from '../../shared/list/list-kind.js';
import { paths } from '../../shared/location/paths.js';
import type { Usages } from '../../shared/fleet/use-usage.js';
import type { Progresses } from '../../shared/tasks/use-progress.js';
import { vmColumns } from './vm-columns.js';

/**
 * @param usages what the list shows as the usage of its VMs
 * @param progresses what it shows as the progress of their tasks
 */
export const vmKind = (usages: Usages, progresses: Progresses): ListKind<VmView> => ({
  collection: 'vms',
  title: t`Virtual machines`,
  counted: (count) => plural(count, { one: '# VM', other: '# VMs' }),
  plural: t`VMs`,
  path: paths.fleet,
  pageOf: (vm) => paths.vm(vm),
  columns: vmColumns(usages, progresses),
});
