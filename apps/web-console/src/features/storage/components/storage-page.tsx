import { t } from '@lingui/core/macro';
import type { StorageView } from '@headgate/api-contracts';
import { paths } from '../../../shared/location/paths.js';
import { readableBytes } from '../../../shared/quantity/quantity.js';
import { ResourceList } from '../../../shared/resources/resource-list.js';
import { ResourcePage } from '../../../shared/resources/resource-page.js';
import { UsageBar } from '../../../shared/resources/usage-bar.js';
import { numeric } from '../../../shared/ui/table.js';
import { useStorage } from '../use-storage.js';
import { StoragePeek } from './storage-peek.js';
import { perLanguage } from '../../../shared/texts/per-language.js';
import { readableNumber } from '../../../shared/texts/formats.js';
import { Data } from '../../../shared/ui/data.js';

const columns = perLanguage(() => [
  t`Name`,
  t`Kind`,
  t`Type`,
  t`In use`,
  ...[t`Free`, t`Volumes`, t`Used by`].map(numeric),
  t`Context`,
]);

const keyOf = ({ context, name }: StorageView): string => `${context}/${name}`;
const nameOf = ({ name }: StorageView): string => name;

/** The storage pools and storage classes of all contexts. */
export function StoragePage() {
  const query = useStorage();
  return (
    <ResourcePage
      title={t`Storage`}
      query={query}
      none={t`No reachable context has a storage pool or a storage class.`}
    >
      <ResourceList
        label={t`Storage`}
        columns={columns()}
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
    [kind === 'pool' ? t`Pool` : t`Class`, isDefault && t`default`, !active && t`not active`]
      .filter(Boolean)
      .join(', '),
    <Data>{type}</Data>,
    <UsageBar
      used={allocatedBytes}
      total={capacityBytes}
      text={capacityBytes === null ? used : t`${used} of ${readableBytes(capacityBytes)}`}
    />,
    <span title={storage.spaceUnknown}>{freeBytes === null ? t`Unknown` : readableBytes(freeBytes)}</span>,
    volumes === null ? '–' : readableNumber(volumes),
    readableNumber(storage.users.length + storage.hiddenUsers),
    <Data>{storage.context}</Data>,
  ];
};
