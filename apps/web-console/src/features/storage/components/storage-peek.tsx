import { t } from '@lingui/core/macro';
import type { StorageView } from '@headgate/api-contracts';
import { PeekFacts } from '../../../shared/instances/peek-facts.js';
import { readableBytes } from '../../../shared/quantity/quantity.js';
import { InstanceLinks } from '../../../shared/resources/instance-links.js';
import { UsageBar } from '../../../shared/resources/usage-bar.js';
import { readableNumber } from '../../../shared/texts/formats.js';
import { Data } from '../../../shared/ui/data.js';

/** The details of a storage pool or a storage class. */
export function StoragePeek({ storage }: { storage: StorageView }) {
  const { kind, context, type, active, allocatedBytes, capacityBytes, freeBytes, spaceUnknown } = storage;
  const facts = {
    [t`Context`]: <Data>{context}</Data>,
    [kind === 'pool' ? t`Type` : t`Driver`]: <Data>{type}</Data>,
    [t`New disks`]: storage.default ? t`Here, unless another storage is chosen` : undefined,
    [kind === 'pool' ? t`In use` : t`Claimed`]: allocatedBytes === null ? undefined : readableBytes(allocatedBytes),
    [t`Size`]: capacityBytes === null ? undefined : readableBytes(capacityBytes),
    [t`Free`]: freeBytes === null ? undefined : readableBytes(freeBytes),
    [kind === 'pool' ? t`Volumes` : t`Claims`]: storage.volumes === null ? undefined : readableNumber(storage.volumes),
    [t`Disks`]: storage.canExpand ? t`Can grow` : t`Cannot grow`,
    [t`Access`]: (
      <Data>{storage.modes.map(({ accessMode, volumeMode }) => `${accessMode}, ${volumeMode}`).join(' · ')}</Data>
    ),
  };
  return (
    <>
      <p className="hg-peek-state">
        {kind === 'pool' ? t`Storage pool` : t`Storage class`}
        {!active && t` · not active`}
      </p>
      <UsageBar
        used={allocatedBytes}
        total={capacityBytes}
        text={capacityBytes === null ? t`The size is unknown` : undefined}
      />
      <PeekFacts facts={facts} />
      {spaceUnknown !== undefined && (
        <p className="hg-note" lang="en">
          {spaceUnknown}
        </p>
      )}
      {storage.segments.length > 0 && <Segments segments={storage.segments} />}
      <InstanceLinks
        title={t`Used by`}
        users={storage.users}
        hidden={storage.hiddenUsers}
        none={t`No instance has a disk here.`}
      />
      {kind === 'pool' && (
        <p className="hg-note">{t`The growth is not recorded here. The service exports the free space for Prometheus.`}</p>
      )}
    </>
  );
}

const Segments = ({ segments }: Pick<StorageView, 'segments'>) => (
  <section className="hg-peek-activity" aria-label={t`Free space by node`}>
    <h3>{t`Free space by node`}</h3>
    <ul>
      {segments.map(({ nodes, freeBytes, maxVolumeBytes }) => (
        <li key={nodes}>
          <span>{nodes === '' ? t`All nodes` : <Data>{nodes.replace(/^.*?=/, '')}</Data>}</span>
          <span className="hg-note">
            {freeBytes === null ? t`unknown` : readableBytes(freeBytes)}
            {maxVolumeBytes !== null && t`, a volume up to ${readableBytes(maxVolumeBytes)}`}
          </span>
        </li>
      ))}
    </ul>
  </section>
);
