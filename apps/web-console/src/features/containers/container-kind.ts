import type { ContainerView } from '@headgate/api-contracts';
import type { ListKind } from '../../shared/list/list-kind.js';
import { paths } from '../../shared/location/paths.js';
import { CONTAINER_COLUMNS } from './container-columns.js';

export const CONTAINER_KIND: ListKind<ContainerView> = {
  collection: 'cts',
  title: 'Containers',
  singular: 'container',
  plural: 'containers',
  path: paths.containers,
  pageOf: (ct) => paths.container(ct),
  columns: CONTAINER_COLUMNS,
};
