import type { ContainerView } from '@headgate/api-contracts';
import type { ListKind } from '../../shared/list/list-kind.js';
import { places } from '../../shared/location/places.js';
import { CONTAINER_COLUMNS } from './container-columns.js';

export const CONTAINER_KIND: ListKind<ContainerView> = {
  collection: 'cts',
  title: 'Containers',
  one: 'container',
  many: 'containers',
  place: places.containers,
  pageOf: (ct) => places.container(ct),
  columns: CONTAINER_COLUMNS,
};
