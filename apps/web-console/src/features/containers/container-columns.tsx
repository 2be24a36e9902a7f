import { t } from '@lingui/core/macro';
import type { ContainerView } from '@headgate/api-contracts';
import { instanceColumns, statusColumn } from '../../shared/list/instance-columns.js';
import type { ListColumns } from '../../shared/list/list-kind.js';
import { usageColumns } from '../../shared/list/usage-columns.js';
import { paths } from '../../shared/location/paths.js';
import type { Usages } from '../../shared/fleet/use-usage.js';
import type { Progresses } from '../../shared/tasks/use-progress.js';

/** The columns of the list of containers. */
export const containerColumns = (usages: Usages, progresses: Progresses): ListColumns<ContainerView> => ({
  name: {
    label: t`Name`,
    order: ({ name }) => name,
    width: 12,
    length: ({ name, privileged }) => name.length + (privileged ? 11 : 0),
    cell: (ct) => (
      <>
        <a href={`#${paths.container(ct)}`} tabIndex={-1} title={ct.name} translate="no">
          {ct.name}
        </a>
        {ct.privileged && <span className="hg-mark hg-note">{t`privileged`}</span>}
      </>
    ),
  },
  status: statusColumn(progresses),
  image: {
    label: t`Image`,
    order: ({ image }) => image,
    width: 18,
    keepPriority: 1,
    length: ({ image }) => image.length,
    isData: true,
    cell: ({ image }) => <span title={image}>{image}</span>,
  },
  cpu: instanceColumns().cpu,
  cpuUsage: usageColumns(usages).cpuUsage,
  mem: instanceColumns().mem,
  memUsage: usageColumns(usages).memUsage,
  node: { ...instanceColumns().node, keepPriority: 4 },
  namespace: { ...instanceColumns().namespace, keepPriority: 3 },
  context: { ...instanceColumns().context, keepPriority: 2 },
  tags: { ...instanceColumns().tags, hiddenByDefault: true },
  created: instanceColumns().created,
});
