import type { StorageView } from '@headgate/api-contracts';
import { PeekFacts } from '../../../shared/instances/peek-facts.js';
import { readableBytes } from '../../../shared/quantity/quantity.js';
import { InstanceLinks } from '../../../shared/resources/instance-links.js';
import { UsageBar } from '../../../shared/resources/usage-bar.js';

/** The details of a storage pool or a storage class. */
export function StoragePeek({ storage }: { storage: StorageView }) {
  const { kind, context, type, active, allocatedBytes, capacityBytes, freeBytes, spaceUnknown } = storage;
  const facts = {
    Context: context,
    [kind === 'pool' ? 'Type' : 'Driver']: type,
    'New disks': storage.default ? 'Here, unless another storage is chosen' : undefined,
    [kind === 'pool' ? 'In use' : 'Claimed']: allocatedBytes === null ? undefined : readableBytes(allocatedBytes),
    Size: capacityBytes === null ? undefined : readableBytes(capacityBytes),
    Free: freeBytes === null ? undefined : readableBytes(freeBytes),
    [kind === 'pool' ? 'Volumes' : 'Claims']: storage.volumes?.toLocaleString('en'),
    Disks: storage.canExpand ? 'Can grow' : 'Can not grow',
    Access: storage.modes.map(({ accessMode, volumeMode }) => `${accessMode}, ${volumeMode}`).join(' · '),
  };
  return (
    <>
      <p className="hg-peek-state">
        {kind === 'pool' ? 'Storage pool' : 'Storage class'}
        {!active && ' · not active'}
      </p>
      <UsageBar
        used={allocatedBytes}
        total={capacityBytes}
        text={capacityBytes === null ? 'The size is unknown' : undefined}
      />
      <PeekFacts facts={facts} />
      {spaceUnknown !== undefined && <p className="hg-note">{spaceUnknown}</p>}
      {storage.segments.length > 0 && <Segments segments={storage.segments} />}
      <InstanceLinks
        title="Used by"
        users={storage.users}
        hidden={storage.hiddenUsers}
        none="No instance has a disk here."
      />
      {kind === 'pool' && (
        <p className="hg-note">The growth is not recorded here. The service exports the free space for Prometheus.</p>
      )}
    </>
  );
}

const Segments = ({ segments }: Pick<StorageView, 'segments'>) => (
  <section className="hg-peek-activity" aria-label="Free space by node">
    <h3>Free space by node</h3>
    <ul>
      {segments.map(({ nodes, freeBytes, maxVolumeBytes }) => (
        <li key={nodes}>
          <span>{nodes === '' ? 'All nodes' : nodes.replace(/^.*?=/, '')}</span>
          <span className="hg-note">
            {freeBytes === null ? 'unknown' : readableBytes(freeBytes)}
            {maxVolumeBytes !== null && `, a volume up to ${readableBytes(maxVolumeBytes)}`}
          </span>
        </li>
      ))}
    </ul>
  </section>
);
