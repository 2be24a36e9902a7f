import { t } from '@lingui/core/macro';
import { BusyLink, busyText } from '../instances/busy-link.js';
import type { Instance } from '../instances/instance.js';
import { instanceState, stateWords } from '../instances/instance-state.js';
import { InstanceStatus } from '../instances/instance-status.js';
import { PendingMark, pendingText } from '../instances/pending-mark.js';
import { bytesOf, readableQuantity } from '../quantity/quantity.js';
import type { Progresses } from '../tasks/use-progress.js';
import { Timestamp } from '../ui/timestamp.js';
import { TagList, tagsLength } from '../ui/tag-list.js';
import type { ListColumn } from './list-kind.js';
import { perLanguage } from '../texts/per-language.js';

/** The column of the state, with the progress of tasks. */
export const statusColumn = (progresses: Progresses): ListColumn<Instance> => ({
  label: t`Status`,
  order: stateWords,
  width: 10.25,
  length: (instance) =>
    instanceState(instance, progresses[instance.ref]).words.length +
    2 +
    (pendingText(instance) === undefined ? 0 : 4) +
    (instance.busy ? busyText(instance).length + 2 : 0),
  cell: (instance) => (
    <>
      <InstanceStatus instance={instance} progress={progresses[instance.ref]} inRow />
      <PendingMark instance={instance} />
      <BusyLink instance={instance} inRow />
    </>
  ),
});

/** The other columns of all kinds of instances. Each list sets the priorities. */
export const instanceColumns = perLanguage(
  () =>
    ({
      cpu: {
        label: 'CPU',
        order: ({ cpu }) => cpu,
        width: 3.75,
        numeric: true,
        keepPriority: 8,
        cell: ({ cpu }) => cpu,
      },
      mem: {
        label: t({ message: 'Memory', context: 'column of a list' }),
        order: ({ mem }) => bytesOf(mem),
        text: ({ mem }) => mem,
        width: 5.25,
        numeric: true,
        keepPriority: 9,
        cell: ({ mem }) => readableQuantity(mem),
      },
      node: { label: t`Node`, order: ({ node }) => node ?? '', width: 8, isData: true, cell: ({ node }) => node },
      tags: {
        label: t`Tags`,
        order: ({ tags }) => tags.join(' '),
        width: 9.75,
        length: tagsLength,
        cell: ({ tags }) => <TagList tags={tags} />,
      },
      namespace: {
        label: t`Namespace`,
        order: ({ namespace }) => namespace,
        width: 7,
        isData: true,
        cell: ({ namespace }) => namespace,
      },
      context: {
        label: t`Context`,
        order: ({ context }) => context,
        width: 6,
        isData: true,
        cell: ({ context }) => context,
      },
      folder: {
        label: t`Folder`,
        order: ({ folder }) => folder ?? '',
        width: 8,
        hiddenByDefault: true,
        isData: true,
        cell: ({ folder }) => folder,
      },
      created: {
        label: t`Created`,
        order: ({ createdAt }) => createdAt ?? '',
        width: 8,
        length: () => 12,
        hiddenByDefault: true,
        cell: ({ createdAt }) => createdAt && <Timestamp at={createdAt} brief />,
      },
    }) as const satisfies Readonly<Record<string, ListColumn<Instance>>>,
);
