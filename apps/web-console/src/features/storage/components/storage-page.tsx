import type { StorageView } from '@headgate/api-contracts';
import { paths } from '../../../shared/location/paths.js';
import { readableBytes } from '../../../shared/quantity/quantity.js';
import { ResourceList } from '../../../shared/resources/resource-list.js';
import { ResourcePage } from '../../../shared/resources/resource-page.js';
import { UsageBar } from '../../../shared/resources/usage-bar.js';
import { numeric } from '../../../shared/ui/table.js';
import { useStorage } from '../use-storage.js';
import { StoragePeek } from './storage-peek.js';

const COLUMNS = ['Name', 'Kind', 'Type', 'In use', ...['Free', 'Volumes', 'Used by'].map(numeric), 'Context'];

const keyOf = ({ context, name }: StorageView): string => `${context}/${name}`;
const nameOf = ({ name }: StorageView): string => name;

/** The storage pools and storage classes of all contexts. */
export function StoragePage() {
  const query = useStorage();
  return (
    <ResourcePage title="Storage" query={query} none="No reachable context has a storage pool or a storage class.">
      <ResourceList
        label="Storage"
        columns={COLUMNS}
        items={query.data ?? []}
        keyOf={keyOf}
        nameOf={nameOf}
        cells={cells}
        path={paths.storage}
        details={(storage) => <StoragePeek storage={storage} />}
      />
    </ResourcePage>
  );
}

const cells = (storage: StorageView) => {
  const { kind, type, default: isDefault, active, allocatedBytes, capacityBytes, freeBytes, volumes } = storage;
  const used = allocatedBytes === null ? '–' : readableBytes(allocatedBytes);
  return [
    `${kind === 'pool' ? 'Pool' : 'Class'}${isDefault ? ', default' : ''}${active ? '' : ', not active'}`,
    type,
    <UsageBar
      used={allocatedBytes}
      total={capacityBytes}
      text={capacityBytes === null ? used : `${used} of ${readableBytes(capacityBytes)}`}
    />,
    <span title={storage.spaceUnknown}>{freeBytes === null ? 'Unknown' : readableBytes(freeBytes)}</span>,
    volumes === null ? '–' : volumes.toLocaleString('en'),
    (storage.users.length + storage.hiddenUsers).toLocaleString('en'),
    storage.context,
  ];
};
