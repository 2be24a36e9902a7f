import { BusyLink, busyText } from '../instances/busy-link.js';
import { statusOf, type Instance } from '../instances/instance.js';
import { bytesOf, readableQuantity } from '../quantity/quantity.js';
import { Timestamp } from '../ui/timestamp.js';
import { StatusLabel } from '../ui/status-label.js';
import { TagList, tagsLength } from '../ui/tag-list.js';
import type { ListColumn } from './list-kind.js';

/** The columns of all kinds of instances. Each list sets the priorities. */
export const INSTANCE_COLUMNS = {
  status: {
    label: 'Status',
    order: statusOf,
    width: 10.25,
    length: (instance) => statusOf(instance).length + 2 + (instance.busy ? busyText(instance).length + 2 : 0),
    cell: (instance) => (
      <>
        <StatusLabel status={statusOf(instance)} reason={instance.reason} stale={instance.stale} />
        <BusyLink instance={instance} inRow />
      </>
    ),
  },
  cpu: { label: 'CPU', order: ({ cpu }) => cpu, width: 3.75, numeric: true, keepPriority: 8, cell: ({ cpu }) => cpu },
  mem: {
    label: 'Memory',
    order: ({ mem }) => bytesOf(mem),
    text: ({ mem }) => mem,
    width: 5.25,
    numeric: true,
    keepPriority: 9,
    cell: ({ mem }) => readableQuantity(mem),
  },
  node: { label: 'Node', order: ({ node }) => node ?? '', width: 8, cell: ({ node }) => node },
  tags: {
    label: 'Tags',
    order: ({ tags }) => tags.join(' '),
    width: 9.75,
    length: tagsLength,
    cell: ({ tags }) => <TagList tags={tags} />,
  },
  namespace: { label: 'Namespace', order: ({ namespace }) => namespace, width: 7, cell: ({ namespace }) => namespace },
  context: { label: 'Context', order: ({ context }) => context, width: 6, cell: ({ context }) => context },
  folder: {
    label: 'Folder',
    order: ({ folder }) => folder ?? '',
    width: 8,
    hiddenByDefault: true,
    cell: ({ folder }) => folder,
  },
  created: {
    label: 'Created',
    order: ({ createdAt }) => createdAt ?? '',
    width: 8,
    length: () => 12,
    hiddenByDefault: true,
    cell: ({ createdAt }) => createdAt && <Timestamp at={createdAt} brief />,
  },
} as const satisfies Readonly<Record<string, ListColumn<Instance>>>;
