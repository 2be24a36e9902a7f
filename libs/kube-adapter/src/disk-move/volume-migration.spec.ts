import type { InstanceRef } from '@headgate/domain-contracts';
import { FixedClock, recordingReporter } from '@headgate/testing';
import { MIGRATIONS, VIRTUAL_MACHINES, VM_INSTANCES, type Resource } from '../api/resources.js';
import type { HardwareDeps } from '../hardware/vm-hardware.js';
import { VolumeMigration, type MovingDisk } from './volume-migration.js';

/** Pauses take no time of the test. */
class HastyClock extends FixedClock {
  override delay(ms: number): Promise<void> {
    this.advance(ms);
    return Promise.resolve();
  }
}

const REF: InstanceRef = { kind: 'vm', context: 'prod', namespace: 'shop', name: 'web' };
const metadata = { name: 'web', namespace: 'shop', uid: 'vm-1' };
const volumes = [{ name: 'root', dataVolume: { name: 'web-disk-2' } }];
const VM = { metadata, spec: { template: { spec: { volumes } } }, status: { printableStatus: 'Running' } };
const COPIED = { metadata: { uid: 'm-1', creationTimestamp: '2026-01-01T00:00:02Z' }, status: { phase: 'Succeeded' } };
const DISK: MovingDisk = {
  ref: REF,
  target: { metadata: { name: 'web-disk-2', namespace: 'shop', creationTimestamp: '2026-01-01T00:00:01Z' } },
  record: { instance: 'vmi-1', storage: 'fast', volume: { name: 'root', dataVolume: { name: 'web-disk-1' } } },
};

/** A guest whose volumes KubeVirt changes until the given number of reads, and that has migrated. */
function migrationOf(reads: number) {
  const created: object[] = [];
  let read = 0;
  const guest = (): object => ({
    metadata: { ...metadata, uid: 'vmi-1' },
    spec: { volumes },
    status: { phase: 'Running', conditions: ++read > reads ? [] : [{ type: 'VolumesChange', status: 'True' }] },
  });
  const api = {
    find: async (resource: Resource) => {
      if (resource === VM_INSTANCES) return guest();
      return resource === VIRTUAL_MACHINES ? VM : undefined;
    },
    list: async (resource: Resource) => (resource === MIGRATIONS ? [COPIED] : []),
    create: async (_resource: Resource, object: object) => created.push(object),
  };
  const deps = { api, discovery: { facts: async () => ({}) }, clock: new HastyClock() } as unknown as HardwareDeps;
  return { created, until: new VolumeMigration(deps).untilMoved(DISK, recordingReporter()) };
}

describe('the copy of a disk whose migration has succeeded', () => {
  test('is not begun again because the guest was read before the end of the migration', async () => {
    for (const reads of [1, 4]) {
      const { created, until } = migrationOf(reads);
      await until;
      expect(created).toEqual([]);
    }
  });

  test('is begun once more when the change stays, as that was a migration for something else', async () => {
    const { created, until } = migrationOf(70);
    await until;
    expect(created.length).toBeGreaterThan(0);
  });
});
