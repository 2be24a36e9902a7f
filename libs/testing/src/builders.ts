import type { Container, InstanceRef, VirtualMachine } from '@headgate/domain-contracts';
import { MEMORY_TRAITS } from './memory-backend/memory-traits.js';

type Overrides<T extends { ref: InstanceRef }> = Partial<Omit<T, 'ref'>> & { ref?: Partial<Omit<InstanceRef, 'kind'>> };

/** A stopped VM `vm/lab/default/web`, with the overrides of the test. */
export const buildVm = ({ ref, ...overrides }: Overrides<VirtualMachine> = {}): VirtualMachine => ({
  ref: { kind: 'vm', context: 'lab', namespace: 'default', name: 'web', ...ref },
  backend: MEMORY_TRAITS.kind,
  uid: 'uid-1',
  status: 'Stopped',
  ready: false,
  cpu: 2,
  memoryBytes: 4 * 1024 ** 3,
  diskBytes: 20 * 1024 ** 3,
  tags: [],
  createdAt: '2026-01-01T00:00:00.000Z',
  isTemplate: false,
  liveMigratable: false,
  agentConnected: false,
  protected: false,
  restartRequired: false,
  ...overrides,
});

/** A running container `ct/lab/default/box`, with the overrides of the test. */
export const buildContainer = ({ ref, ...overrides }: Overrides<Container> = {}): Container => ({
  ref: { kind: 'ct', context: 'lab', namespace: 'default', name: 'box', ...ref },
  backend: MEMORY_TRAITS.kind,
  uid: 'uid-2',
  phase: 'Running',
  ready: true,
  image: 'debian:12',
  privileged: false,
  cpu: 1,
  memoryBytes: 512 * 1024 ** 2,
  node: 'node-1',
  tags: [],
  ...overrides,
});
