import { DomainError, SILENT_LOG } from '@headgate/domain-contracts';
import { FixedClock } from '@headgate/testing';
import { NO_METADATA, type InstanceMetadata } from '../domain-xml/instance-metadata.js';
import type { PendingChange } from '../domain-xml/snapshot-metadata.js';
import { fileDisk, foreignDomainXml, ownDomainXml, UUID } from '../testing/domain-xml.js';
import { KeyedLock } from '../locks/concurrency.js';
import type { MigrationHost } from './migration-host.js';
import { MigrationSettlement, type SettlementDeps } from './migration-settlement.js';

const DISK = 'web-2c749204.qcow2';
const OTHER = '6f1b0b45-9d35-4e1b-8a0f-0c5f4f9d5a11';
const ID = { uuid: UUID, name: 'web' };

interface Situation {
  readonly state?: 'running' | 'migrating' | 'paused' | 'off';
  /** The domain on the destination. */
  readonly there?: 'none' | 'transient' | 'persistent' | 'unreachable';
  readonly pending?: Partial<PendingChange>;
  /** Whether libvirt on the source has a job of the domain. */
  readonly hasJob?: boolean;
  /** More volumes of the domain. */
  readonly volumes?: InstanceMetadata['volumes'];
  /** The XML of another domain on the destination. */
  readonly neighbor?: string;
}

/** A settlement over two simulated hosts, and the calls that change something. */
function situation({
  state = 'running',
  there = 'none',
  pending = {},
  hasJob = false,
  volumes = [],
  neighbor,
}: Situation) {
  const changes: string[] = [];
  const record =
    (name: string) =>
    async (...args: unknown[]): Promise<void> =>
      void changes.push([name, ...args.map((arg) => (typeof arg === 'string' ? arg : JSON.stringify(arg)))].join(' '));
  const metadata: InstanceMetadata = {
    ...NO_METADATA,
    owner: UUID,
    volumes: [{ pool: 'headgate', name: DISK, role: 'disk' }, ...volumes],
    pending: {
      kind: 'migration',
      service: 'us',
      snapshot: '',
      startedAt: '2026-01-01T00:00:00.000Z',
      wasRunning: true,
      target: 'beta',
      disks: [{ target: 'vda', name: DISK, replaced: DISK }],
      ...pending,
    },
  };
  const states = {
    running: { word: 'running', reason: 'booted', isActive: true },
    migrating: { word: 'paused', reason: 'migrating', isActive: true },
    paused: { word: 'paused', reason: 'user', isActive: true },
    off: { word: 'shut off', reason: 'shutdown', isActive: false },
  };
  const domains = {
    inspect: async () => ({ xml: ownDomainXml({ metadata }), state: states[state], isPersistent: true }),
    resume: record('resume'),
    destroy: record('destroy'),
    undefine: record('undefine'),
  };
  const destination = {
    context: 'beta',
    connection: {
      uri: 'qemu+ssh://beta/system',
      domains: {
        inspect: async () => {
          if (there === 'unreachable') throw new DomainError('BACKEND_UNREACHABLE', 'beta is unreachable.');
          return there === 'none' ? undefined : { xml: '', isPersistent: there === 'persistent' };
        },
        documents: async () => (neighbor === undefined ? [] : [{ id: { uuid: OTHER, name: 'other' }, xml: neighbor }]),
      },
      storage: { volumePaths: async () => [], volumesAt: async (paths: string[]) => paths.map(() => undefined) },
    },
    finder: { all: async () => [] },
    pool: {
      state: async () => ({ isActive: true }),
      path: async () => '/srv/headgate',
      volumes: async () => [DISK, 'unrelated.qcow2'],
      has: async () => false,
      remove: record('remove there'),
    },
  } as unknown as MigrationHost;
  const settlement = new MigrationSettlement({
    self: { context: 'alpha', connection: { domains, jobs: { current: async () => (hasJob ? {} : undefined) } } },
    others: () => [destination],
    editor: {
      updateMetadata: async (_uuid: string, change: (from: InstanceMetadata) => InstanceMetadata) =>
        void changes.push(change(metadata).pending === undefined ? 'forget' : 'note'),
    },
    remover: { remove: record('remove domain') },
    lock: new KeyedLock(),
    clock: new FixedClock(),
    log: SILENT_LOG,
  } as unknown as SettlementDeps);
  return {
    settlement,
    changes,
    destination: destination as { -readonly [K in keyof MigrationHost]: MigrationHost[K] },
  };
}

describe('MigrationSettlement', () => {
  test.each<[string, Situation, string[]]>([
    ['a guest that runs on the source stays there', {}, [`remove there ${DISK}`, 'forget']],
    ['a guest that its user has paused stays there', { state: 'paused' }, [`remove there ${DISK}`, 'forget']],
    [
      'a guest that waits for a destination without it continues',
      { state: 'migrating' },
      [`resume ${UUID}`, `remove there ${DISK}`, 'forget'],
    ],
    [
      'a guest that has arrived is removed from the source, with its volumes',
      { state: 'migrating', there: 'persistent' },
      [`destroy ${UUID}`, `remove domain ${UUID}`],
    ],
    [
      'the same if its user had paused it',
      { state: 'paused', there: 'persistent' },
      [`destroy ${UUID}`, `remove domain ${UUID}`],
    ],
    ['the same if the source has stopped it', { state: 'off', there: 'persistent' }, [`remove domain ${UUID}`]],
    [
      'on shared storage, only the definition is removed from the source',
      { state: 'off', there: 'persistent', pending: { disks: [] } },
      [`undefine ${UUID} {"keepsNvram":true}`],
    ],
    [
      'a guest that has stopped after a canceled migration is never given up',
      { state: 'off', pending: { isCanceled: true } },
      [`remove there ${DISK}`, 'forget'],
    ],
    ['another kind of change is left alone', { pending: { kind: 'snapshot' } }, []],
    ['a migration to a context that is gone is left alone', { pending: { target: 'gamma' } }, []],
  ])('%s', async (_rule, facts, expected) => {
    const { settlement, changes } = situation(facts);
    await settlement.settle(ID);
    expect(changes).toEqual(expected);
  });

  test.each([
    ['uses it', foreignDomainXml({ name: 'other', uuid: OTHER, disks: fileDisk(`/srv/headgate/${DISK}`) })],
    [
      'lists it in its metadata',
      ownDomainXml({
        uuid: OTHER,
        disk: { path: '/srv/headgate/other.qcow2', format: 'qcow2' },
        metadata: { ...NO_METADATA, owner: OTHER, volumes: [{ pool: 'headgate', name: DISK, role: 'layer' }] },
      }),
    ],
  ])('never removes a volume on the destination while another domain there %s', async (_how, neighbor) => {
    const { settlement, changes } = situation({ neighbor });
    await settlement.settle(ID);
    expect(changes).toEqual(['forget']);
  });

  test('removes the serial log that the destination has begun', async () => {
    const { settlement, changes, destination } = situation({
      volumes: [{ pool: 'headgate', name: 'web-serial.log', role: 'serial-log' }],
    });
    destination.pool.volumes = async () => [DISK, 'web-serial.log'];
    await settlement.settle(ID);
    expect(changes).toEqual([`remove there ${DISK}`, 'remove there web-serial.log', 'forget']);
  });

  test.each<[string, Situation]>([
    ['stays', {}],
    ['has arrived', { state: 'migrating', there: 'persistent' }],
  ])('removes the folder of the sockets when the guest %s', async (_where, facts) => {
    const { settlement, changes, destination } = situation(facts);
    destination.connection = { ...destination.connection, uri: 'qemu:///system' } as typeof destination.connection;
    destination.pool.has = async (name: string) => name === 'migration-2c7492048322';
    await settlement.settle(ID);
    expect(changes).toContain('remove there migration-2c7492048322');
  });

  test.each<[string, Situation, string]>([
    ['the destination does not answer', { state: 'migrating', there: 'unreachable' }, 'BACKEND_UNREACHABLE'],
    ['the destination still ends its part', { state: 'migrating', there: 'transient' }, 'BUSY'],
    ['the source still ends its part', { hasJob: true }, 'BUSY'],
    ['the guest stays and the destination still uses the copies', { there: 'transient' }, 'BUSY'],
  ])('changes nothing while %s', async (_case, facts, code) => {
    const { settlement, changes } = situation(facts);
    await expect(settlement.settle(ID)).rejects.toMatchObject({ code });
    expect(changes).toEqual([]);
  });
});
