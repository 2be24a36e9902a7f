import type { ContainerView } from '@headgate/api-contracts';
import type { ListKind } from '../../shared/list/list-kind.js';
import { paths } from '../../shared/location/paths.js';
import type { Usages } from '../../shared/fleet/use-usage.js';
import { containerColumns } from './container-columns.js';

/** @param usages what the list shows as the usage of its containers */
export const containerKind = (usages: Usages): ListKind<ContainerView> => ({
  collection: 'cts',
  title: 'Containers',
  singular: 'container',
  plural: 'containers',
  path: paths.containers,
  pageOf: (ct) => paths.container(ct),
  columns: containerColumns(usages),
});
