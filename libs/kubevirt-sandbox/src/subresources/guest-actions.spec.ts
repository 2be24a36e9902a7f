import { RESOURCES } from '../resources.js';
import { listeningCluster } from '../testing/listening-cluster.js';
import { findCondition } from '../types/condition.js';
import type { Migration } from '../types/kubevirt-kinds.js';
import type { VirtualMachineInstance } from '../types/virtual-machine-instance.js';

type Cluster = Awaited<ReturnType<typeof listeningCluster>>;

describe('actions on a running guest', () => {
  let cluster: Cluster;

  beforeEach(async () => {
    cluster = await listeningCluster();
    cluster.simulation.seedVm({ name: 'web' }, { name: 'off', status: 'Stopped' }, { name: 'held', status: 'Paused' });
    cluster.clock.advance(1_000);
  });

  afterEach(() => cluster.close());

  const vmi = (name = 'web') =>
    cluster.sandbox.store.require<VirtualMachineInstance>(RESOURCES.vmi, { namespace: 'tailvm', name });
  const agent = () => findCondition(vmi().status?.conditions, 'AgentConnected')?.status;
  const act = (name: string, action: string, body?: unknown) =>
    cluster.act('virtualmachineinstances', name, action, body);

  test.each(['reset', 'softreboot'])('%s boots the guest again in the same VMI', async (action) => {
    const { uid } = vmi().metadata;
    cluster.clock.advance(20_000);
    const guest = cluster.simulation.guestOf('tailvm', 'web');
    expect(guest.screen.text).toContain('web login:');
    expect(await act('web', action)).toMatchObject({ status: 200, text: '' });
    expect(agent()).toBeUndefined();
    expect(guest.screen.text).not.toContain('web login:');
    cluster.clock.advance(30_000);
    expect(agent()).toBe('True');
    expect(guest.screen.text).toContain('web login:');
    expect(vmi()).toMatchObject({ metadata: { uid }, status: { phase: 'Running' } });
  });

  test.each([
    ['off', 'reset', 404, 'virtualmachineinstance.kubevirt.io "off" not found'],
    ['off', 'softreboot', 404, 'virtualmachineinstance.kubevirt.io "off" not found'],
    ['held', 'softreboot', 409, 'VMI is paused'],
    ['off', 'freeze', 404, 'virtualmachineinstance.kubevirt.io "off" not found'],
  ])('%s refuses %s with %d', async (name, action, status, message) => {
    const answer = await act(name, action);
    expect(answer.status).toBe(status);
    expect(answer.json?.['message']).toContain(message);
  });

  test('a soft reboot needs a guest agent or ACPI', async () => {
    cluster.simulation.faults.inject('agent-gone', { namespace: 'tailvm', name: 'web' });
    cluster.clock.advance(1_000);
    const answer = await act('web', 'softreboot');
    expect(answer.status).toBe(409);
    expect(answer.json?.['message']).toContain('VMI neither have the agent connected nor the ACPI feature enabled');
  });

  test('reset does not exist before 1.5', async () => {
    await cluster.close();
    cluster = await listeningCluster({ kubevirtVersion: '1.4' });
    cluster.simulation.seedVm({ name: 'web' });
    expect((await act('web', 'reset')).status).toBe(404);
    expect((await act('web', 'softreboot')).status).toBe(200);
  });

  test('freeze and unfreeze appear in the status and in the responses of the agent', async () => {
    expect(await act('web', 'freeze', { unfreezeTimeout: '5m0s' })).toMatchObject({ status: 200, text: '' });
    expect(vmi().status?.fsFreezeStatus).toBe('frozen');
    expect((await cluster.ask('web', 'guestosinfo')).json).toMatchObject({ fsFreezeStatus: 'frozen' });
    expect(await act('web', 'unfreeze')).toMatchObject({ status: 200, text: '' });
    expect(vmi().status).not.toHaveProperty('fsFreezeStatus');
    expect((await cluster.ask('web', 'guestosinfo')).json).toMatchObject({ fsFreezeStatus: 'thawed' });
  });

  test('a frozen guest thaws automatically after its timeout, counted from the last freeze', async () => {
    await act('web', 'freeze', { unfreezeTimeout: '30s' });
    cluster.clock.advance(20_000);
    await act('web', 'freeze', { unfreezeTimeout: '30s' });
    cluster.clock.advance(20_000);
    expect(vmi().status?.fsFreezeStatus).toBe('frozen');
    cluster.clock.advance(10_000);
    expect(vmi().status).not.toHaveProperty('fsFreezeStatus');
  });

  test('migrate creates a migration, one at a time, and only while the VM runs', async () => {
    const node = vmi().status?.nodeName;
    const migrate = (name: string, body?: unknown) => cluster.act('virtualmachines', name, 'migrate', body);
    const migrations = () => cluster.sandbox.store.list<Migration>(RESOURCES.migration);
    expect(await migrate('web', { dryRun: ['All'] })).toMatchObject({ status: 202, text: '' });
    expect(migrations()).toEqual([]);
    expect(await migrate('web', {})).toMatchObject({ status: 202, text: '' });
    expect(migrations().map(({ metadata }) => metadata.name)).toEqual([
      expect.stringMatching(/^kubevirt-migrate-vm-[a-z0-9]{5}$/),
    ]);
    const second = await migrate('web');
    expect(second.status).toBe(500);
    expect(second.json?.['message']).toContain('in-flight migration detected');
    cluster.clock.advance(60_000);
    expect(migrations()[0]?.status?.phase).toBe('Succeeded');
    expect(vmi().status?.nodeName).not.toBe(node);
    expect((await migrate('off')).json).toMatchObject({ code: 404 });
    expect((await migrate('missing')).json).toMatchObject({ code: 404 });
  });

  test('migrate uses an added node selector, and waits for a matching node', async () => {
    await cluster.act('virtualmachines', 'web', 'migrate', {
      addedNodeSelector: { 'kubernetes.io/hostname': 'node-that-left' },
    });
    cluster.clock.advance(60_000);
    const [migration] = cluster.sandbox.store.list<Migration>(RESOURCES.migration);
    expect(migration).toMatchObject({
      spec: { addedNodeSelector: { 'kubernetes.io/hostname': 'node-that-left' } },
      status: { phase: 'Scheduling' },
    });
  });
});
