import type { NodeDetailsView } from '@headgate/api-contracts';

const GIB = 1024 ** 3;

/** A node with 16 CPUs and 64 GiB, with overrides for the test. */
export const buildNode = (overrides: Partial<NodeDetailsView> = {}): NodeDetailsView => ({
  name: 'node-1',
  context: 'prod',
  ready: true,
  schedulable: true,
  cordoned: false,
  roles: 'worker',
  kubelet: 'v1.34',
  arch: 'amd64',
  capacity: { cpu: 16_000, memoryBytes: 64 * GIB },
  allocatable: { cpu: 15_500, memoryBytes: 60 * GIB },
  promised: { cpu: 4_000, memoryBytes: 8 * GIB },
  load: { cpu: 4_000, memoryBytes: 32 * GIB },
  instances: 2,
  ...overrides,
});
