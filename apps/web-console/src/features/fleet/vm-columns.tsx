import { t } from '@lingui/core/macro';
import type { VmView } from '@headgate/api-contracts';
import { instanceColumns, statusColumn } from '../../shared/list/instance-columns.js';
import type { ListColumns } from '../../shared/list/list-kind.js';
import { usageColumns } from '../../shared/list/usage-columns.js';
import { paths } from '../../shared/location/paths.js';
import { bytesOf, readableQuantity } from '../../shared/quantity/quantity.js';
import type { Usages } from '../../shared/fleet/use-usage.js';
import type { Progresses } from '../../shared/tasks/use-progress.js';
import { Icon } from '../../shared/ui/icon.js';
import { perLanguage } from '../../shared/texts/per-language.js';

const volatileHint = perLanguage(() => t`Changes to its boot disk are lost at power-off`);

/** The columns of the list of VMs. */
export const vmColumns = (usages: Usages, progresses: Progresses): ListColumns<VmView> => ({
  name: { label: t`Name`, order: ({ name }) => name, width: 12, length: nameLength, cell: (vm) => <VmName vm={vm} /> },
  status: statusColumn(progresses),
  cpu: instanceColumns().cpu,
  cpuUsage: usageColumns(usages).cpuUsage,
  mem: instanceColumns().mem,
  memUsage: usageColumns(usages).memUsage,
  disk: {
    label: t`Disk`,
    order: ({ disk }) => bytesOf(disk),
    text: ({ disk }) => disk,
    width: 5.25,
    numeric: true,
    keepPriority: 2,
    cell: ({ disk }) => readableQuantity(disk),
  },
  ip: {
    label: t`IP address`,
    order: ({ ip }) => ip ?? '',
    width: 8.5,
    keepPriority: 6,
    isData: true,
    cell: ({ ip }) => ip,
  },
  node: { ...instanceColumns().node, keepPriority: 5 },
  tags: { ...instanceColumns().tags, keepPriority: 4 },
  namespace: { ...instanceColumns().namespace, keepPriority: 3 },
  context: { ...instanceColumns().context, keepPriority: 1 },
  folder: instanceColumns().folder,
  created: instanceColumns().created,
});

function nameLength({ name, protected: isProtected, isTemplate, volatile }: VmView): number {
  return name.length + (isProtected ? 3 : 0) + (isTemplate ? 9 : 0) + (volatile ? 9 : 0);
}

const VmName = ({ vm }: { vm: VmView }) => (
  <>
    <a href={`#${paths.vm(vm)}`} tabIndex={-1} title={vm.name} translate="no">
      {vm.name}
    </a>
    {vm.protected && (
      <span className="hg-mark" title={t`Protected against deletion`}>
        <Icon name="lock" />
        <span className="hg-hidden">{t`protected`}</span>
      </span>
    )}
    {vm.isTemplate && <span className="hg-mark hg-note">{t`template`}</span>}
    {vm.volatile && (
      <span className="hg-mark hg-note" title={volatileHint()}>
        {t`volatile`}
      </span>
    )}
  </>
);
