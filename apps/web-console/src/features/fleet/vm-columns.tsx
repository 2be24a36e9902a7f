import type { VmView } from '@headgate/api-contracts';
import type { ListColumns } from '../../shared/list/list-kind.js';
import { places } from '../../shared/location/places.js';
import { bytesOf, readableQuantity } from '../../shared/quantity/quantity.js';
import { Icon } from '../../shared/ui/icon.js';
import { StatusLabel } from '../../shared/ui/status-label.js';
import { TagList, tagsLength } from '../../shared/ui/tag-list.js';
import { Moment } from '../../shared/ui/moment.js';

/** What is told of a VM in the list. */
export const VM_COLUMNS: ListColumns<VmView> = {
  name: { label: 'Name', order: ({ name }) => name, width: 12, length: nameLength, cell: (vm) => <VmName vm={vm} /> },
  status: {
    label: 'Status',
    order: ({ status }) => status,
    width: 9,
    length: ({ status }) => status.length + 2,
    cell: ({ status, reason, stale }) => <StatusLabel status={status} reason={reason} stale={stale} />,
  },
  cpu: { label: 'CPU', order: ({ cpu }) => cpu, width: 3.75, numeric: true, cell: ({ cpu }) => cpu },
  mem: {
    label: 'Memory',
    order: ({ mem }) => bytesOf(mem),
    text: ({ mem }) => mem,
    width: 5.25,
    numeric: true,
    cell: ({ mem }) => readableQuantity(mem),
  },
  disk: {
    label: 'Disk',
    order: ({ disk }) => bytesOf(disk),
    text: ({ disk }) => disk,
    width: 5.25,
    numeric: true,
    givesWay: 2,
    cell: ({ disk }) => readableQuantity(disk),
  },
  ip: { label: 'IP', order: ({ ip }) => ip ?? '', width: 8.5, givesWay: 6, cell: ({ ip }) => ip },
  node: { label: 'Node', order: ({ node }) => node ?? '', width: 8, givesWay: 5, cell: ({ node }) => node },
  tags: {
    label: 'Tags',
    order: ({ tags }) => tags.join(' '),
    width: 11,
    givesWay: 4,
    length: tagsLength,
    cell: ({ tags }) => <TagList tags={tags} />,
  },
  namespace: {
    label: 'Namespace',
    order: ({ namespace }) => namespace,
    width: 7,
    givesWay: 3,
    cell: ({ namespace }) => namespace,
  },
  context: { label: 'Context', order: ({ context }) => context, width: 6, givesWay: 1, cell: ({ context }) => context },
  created: {
    label: 'Created',
    order: ({ createdAt }) => createdAt ?? '',
    width: 8,
    length: () => 12,
    onDemand: true,
    cell: ({ createdAt }) => createdAt && <Moment at={createdAt} brief />,
  },
};

function nameLength({ name, protected: isProtected, isTemplate }: VmView): number {
  return name.length + (isProtected ? 3 : 0) + (isTemplate ? 9 : 0);
}

const VmName = ({ vm }: { vm: VmView }) => (
  <>
    <a href={`#${places.vm(vm)}`} tabIndex={-1} title={vm.name}>
      {vm.name}
    </a>
    {vm.protected && (
      <span className="hg-mark" title="Protected against deletion">
        <Icon name="lock" />
        <span className="hg-hidden">protected</span>
      </span>
    )}
    {vm.isTemplate && <span className="hg-mark hg-note">template</span>}
  </>
);
