import { SILENT_LOG } from '@headgate/domain-contracts';
import { FixedClock } from '@headgate/testing';
import { describeDomain } from '../domain-xml/domain-description.js';
import { NO_METADATA, type InstanceMetadata } from '../domain-xml/instance-metadata.js';
import { DiskHolds } from '../locks/disk-holds.js';
import { ownDomainXml, UUID } from '../testing/domain-xml.js';
import { KeyedLock } from '../locks/concurrency.js';
import { LibvirtDiskMove, type LibvirtDiskMoveDeps } from './libvirt-disk-move.js';

const DISK = 'web-2c749204.qcow2';
const OLD = `/images/headgate/${DISK}`;
const NEW = `/fast/${DISK}`;

const metadata: InstanceMetadata = {
  ...NO_METADATA,
  owner: UUID,
  volumes: [{ pool: 'headgate', name: DISK, role: 'disk' }],
  pending: {
    kind: 'move',
    service: 'us',
    snapshot: 'headgate',
    startedAt: '2026-01-01T00:00:00.000Z',
    wasRunning: true,
    target: 'fast',
    disks: [{ target: 'vda', name: DISK, replaced: DISK }],
  },
};

interface Situation {
  /** The file that the domain uses, and the one of its next start. */
  readonly live?: string;
  readonly next?: string;
  readonly isActive?: boolean;
  /** Whether the new volume exists. */
  readonly exists?: boolean;
  readonly service?: string;
}

/** The changes that the next start of the service makes. */
async function recovered({ live = OLD, next = live, isActive = true, exists = true, service = 'us' }: Situation) {
  const changes: string[] = [];
  const xmlWith = (path: string): string => ownDomainXml({ metadata, disk: { path, format: 'qcow2' } });
  const description = describeDomain(xmlWith(live));
  const move = new LibvirtDiskMove({
    connection: {
      blocks: { cancel: async () => void changes.push('cancel') },
      domains: { persistentXml: async () => xmlWith(next) },
      storage: {
        volumePaths: async () => [exists ? NEW : undefined],
        deleteVolume: async ({ pool, name }: { pool: string; name: string }) =>
          void changes.push(`remove ${pool}/${name}`),
      },
    },
    editor: {
      read: async () => ({ description, isActive, isPersistent: true }),
      updateMetadata: async (_uuid: string, change: (from: InstanceMetadata) => InstanceMetadata) => {
        const { volumes, pending } = change(metadata);
        changes.push(`${volumes[0]?.pool}${pending === undefined ? '' : ' pending'}`);
      },
    },
    lock: new KeyedLock(),
    holds: new DiskHolds(),
    clock: new FixedClock(),
    log: SILENT_LOG,
    service: () => service,
  } as unknown as LibvirtDiskMoveDeps);
  move.recover(description);
  await move.close();
  return changes;
}

describe('an interrupted move of a disk', () => {
  test.each<[string, Situation, string[]]>([
    ['is undone while the guest uses the old file', {}, ['cancel', `remove fast/${DISK}`, 'headgate']],
    ['is undone when the VM has stopped', { isActive: false }, [`remove fast/${DISK}`, 'headgate']],
    ['is forgotten when the new volume was not created yet', { exists: false }, ['cancel', 'headgate']],
    ['is completed when the guest uses the new file', { live: NEW }, ['cancel', `remove headgate/${DISK}`, 'fast']],
    [
      'is completed when the VM has stopped after it',
      { live: NEW, isActive: false },
      [`remove headgate/${DISK}`, 'fast'],
    ],
    ['removes no file while only the running guest uses the new one', { live: NEW, next: OLD }, ['cancel']],
    ['removes no file while only the next start uses the new one', { next: NEW }, ['cancel']],
    ['is left to the service that began it', { service: 'another' }, []],
  ])('%s', async (_rule, facts, expected) => {
    expect(await recovered(facts)).toEqual(expected);
  });
});
