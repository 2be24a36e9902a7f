import type { VirtualMachine } from './instance.js';
import { isSameInstance } from './is-same-instance.js';

const vm: VirtualMachine = {
  ref: { kind: 'vm', context: 'lab', namespace: 'default', name: 'web' },
  backend: 'kubevirt',
  uid: 'uid-1',
  status: 'Running',
  ready: true,
  cpu: 2,
  memoryBytes: 4e9,
  diskBytes: 20e9,
  tags: ['blue', 'prod'],
  isTemplate: false,
  liveMigratable: false,
  agentConnected: false,
  protected: false,
  restartRequired: false,
};

describe('isSameInstance', () => {
  test('compares the content of records, not their identity', () => {
    const { uid, ...rest } = vm;
    expect(isSameInstance(vm, { ...rest, tags: [...vm.tags], uid })).toBe(true);
    expect(isSameInstance(vm, { ...vm, node: undefined })).toBe(true);
  });

  test.each<Partial<VirtualMachine>>([
    { status: 'Stopped' },
    { node: 'node-1' },
    { tags: ['blue'] },
    { tags: ['blue', 'test'] },
    { tags: ['prod', 'blue'] },
  ])('sees %j', (change) => {
    expect(isSameInstance(vm, { ...vm, ...change })).toBe(false);
    expect(isSameInstance({ ...vm, ...change }, vm)).toBe(false);
  });
});
