import { SandboxHarness } from '../testing/sandbox-harness.contract.js';

describe('the events of a VM on a cluster', () => {
  let harness: SandboxHarness;

  beforeAll(async () => {
    harness = await SandboxHarness.open();
  });
  afterAll(() => harness.close());

  test('are those of the VM, of its guest and of its pod', async () => {
    const vm = await harness.givenVm('Running');
    const recent = await harness.backend.require('events').recent(vm, 50);
    const kinds = new Set(recent.map(({ object }) => object.split('/')[0]));
    expect([...kinds]).toEqual(expect.arrayContaining(['Pod', 'VirtualMachineInstance']));
    expect(recent.map(({ reason }) => reason)).toContain('Started');
  });

  test('are not those of an earlier VM of the same name, or of another kind of object', async () => {
    const vm = await harness.givenVm('Stopped');
    const about = (kind: string, name: string, reason: string, at: string) =>
      harness.sandbox.store.create('events', {
        apiVersion: 'v1',
        kind: 'Event',
        metadata: { name: `${name}.${reason.toLowerCase()}`, namespace: vm.namespace },
        involvedObject: { apiVersion: 'v1', kind, name, namespace: vm.namespace },
        type: 'Warning',
        reason,
        message: 'An event of a test.',
        lastTimestamp: at,
      });
    const later = new Date(Date.now() + 60_000).toISOString();
    about('VirtualMachine', vm.name, 'Recent', later);
    about('VirtualMachine', vm.name, 'Ancient', '2001-01-01T00:00:00Z');
    about('ConfigMap', vm.name, 'Unrelated', later);
    about('VirtualMachine', `${vm.name}-2`, 'Neighbor', later);
    const recent = await harness.backend.require('events').recent(vm, 50);
    expect(recent[0]).toEqual({
      time: later,
      type: 'Warning',
      reason: 'Recent',
      object: `VirtualMachine/${vm.name}`,
      message: 'An event of a test.',
    });
    for (const reason of ['Ancient', 'Unrelated', 'Neighbor'])
      expect(recent.map((event) => event.reason)).not.toContain(reason);
  });
});
