import type { InstanceRef } from '@headgate/domain-contracts';
import { FixedClock } from '@headgate/clock/testing';
import { VIRTUAL_MACHINES } from '../api/resources.js';
import { observe } from './live-changes.js';
import type { HardwareDeps } from './vm-hardware.js';

const REF: InstanceRef = { kind: 'vm', context: 'alpha', namespace: 'default', name: 'web' };

/** A cluster that could not apply a change to the running guest. */
const cluster = (message: string): HardwareDeps => {
  const condition = { type: 'Failure', status: 'True', reason: 'HotPlugVolumeError', message };
  const find = async (resource: unknown) =>
    resource === VIRTUAL_MACHINES ? { metadata: {}, status: { conditions: [condition] } } : { metadata: {} };
  return { api: { find }, clock: new FixedClock() } as unknown as HardwareDeps;
};

describe('a change of a running guest that KubeVirt could not apply', () => {
  // The first text is from KubeVirt's code for volumes, the others from those for CPUs and memory.
  test.each([
    'error encountered while handling volume hotplug requests: Cannot handle volume requests while VMI migration is in progress',
    'error encountered while handling CPU change request: CPU hotplug is not allowed while VMI is migrating',
    'error encountered while handling memory hotplug requests: another memory hotplug is in progress',
  ])('has to wait for a migration: %s', async (message) => {
    await expect(observe(cluster(message), REF, () => false)).rejects.toMatchObject({
      code: 'BUSY',
      message: 'web is being migrated; try again when that is done.',
    });
  });

  test('is refused for another reason', async () => {
    const message = 'error encountered while handling volume hotplug requests: the disk is too small';
    await expect(observe(cluster(message), REF, () => false)).rejects.toMatchObject({
      code: 'REJECTED_BY_BACKEND',
      message,
    });
  });
});
