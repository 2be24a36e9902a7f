import { t, plural } from '@lingui/core/macro';
import type { ContainerView } from '@headgate/api-contracts';
import type { ListKind } from '../../shared/list/list-kind.js';
import { paths } from '../../shared/location/paths.js';
import type { Usages } from '../../shared/fleet/use-usage.js';
import type { Progresses } from '../../shared/tasks/use-progress.js';
import { containerColumns } from './container-columns.js';

/**
 * @param usages what the list shows as the usage of its containers
 * @param progresses what it shows as the progress of their tasks
 */
export const containerKind = (usages: Usages, progresses: Progresses): ListKind<ContainerView> => ({
  collection: 'cts',
  title: t`Containers`,
  counted: (count) => plural(count, { one: '# container', other: '# containers' }),
  plural: t`containers`,
  path: paths.containers,
  pageOf: (ct) => paths.container(ct),
  columns: containerColumns(usages, progresses),
});
