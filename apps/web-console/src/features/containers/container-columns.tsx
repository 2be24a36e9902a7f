import type { ContainerView } from '@headgate/api-contracts';
import type { ListColumns } from '../../shared/list/list-kind.js';
import { places } from '../../shared/location/places.js';
import { bytesOf, readableQuantity } from '../../shared/quantity/quantity.js';
import { Moment } from '../../shared/ui/moment.js';
import { StatusLabel } from '../../shared/ui/status-label.js';
import { TagList, tagsLength } from '../../shared/ui/tag-list.js';

/** What is told of a container in the list. */
export const CONTAINER_COLUMNS: ListColumns<ContainerView> = {
  name: {
    label: 'Name',
    order: ({ name }) => name,
    width: 12,
    length: ({ name, privileged }) => name.length + (privileged ? 11 : 0),
    cell: (ct) => (
      <>
        <a href={`#${places.container(ct)}`} tabIndex={-1} title={ct.name}>
          {ct.name}
        </a>
        {ct.privileged && <span className="hg-mark hg-note">privileged</span>}
      </>
    ),
  },
  status: {
    label: 'Status',
    order: ({ phase }) => phase,
    width: 9,
    length: ({ phase }) => phase.length + 2,
    cell: ({ phase, reason, stale }) => <StatusLabel status={phase} reason={reason} stale={stale} />,
  },
  image: {
    label: 'Image',
    order: ({ image }) => image,
    width: 18,
    givesWay: 4,
    length: ({ image }) => image.length,
    cell: ({ image }) => <span title={image}>{image}</span>,
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
  node: { label: 'Node', order: ({ node }) => node, width: 8, givesWay: 3, cell: ({ node }) => node },
  namespace: {
    label: 'Namespace',
    order: ({ namespace }) => namespace,
    width: 7,
    givesWay: 2,
    cell: ({ namespace }) => namespace,
  },
  context: { label: 'Context', order: ({ context }) => context, width: 6, givesWay: 1, cell: ({ context }) => context },
  tags: {
    label: 'Tags',
    order: ({ tags }) => tags.join(' '),
    width: 11,
    length: tagsLength,
    onDemand: true,
    cell: ({ tags }) => <TagList tags={tags} />,
  },
  created: {
    label: 'Created',
    order: ({ createdAt }) => createdAt ?? '',
    width: 8,
    length: () => 12,
    onDemand: true,
    cell: ({ createdAt }) => createdAt && <Moment at={createdAt} brief />,
  },
};
