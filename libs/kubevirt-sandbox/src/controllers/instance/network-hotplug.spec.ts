import { RESOURCES } from '../../resources.js';
import { listeningCluster } from '../../testing/listening-cluster.js';
import { findCondition } from '../../types/condition.js';
import type { VirtualMachineInstance } from '../../types/virtual-machine-instance.js';

type Cluster = Awaited<ReturnType<typeof listeningCluster>>;

const MERGE = { 'Content-Type': 'application/merge-patch+json' };

describe('network cards of a running VM', () => {
  let cluster: Cluster;

  beforeEach(async () => {
    cluster = await listeningCluster({ cluster: { workloadUpdateMethods: ['LiveMigrate'] } });
    cluster.simulation.seedVm({ name: 'web' });
    await cluster.call('POST', '/apis/k8s.cni.cncf.io/v1/namespaces/tailvm/network-attachment-definitions', {
      apiVersion: 'k8s.cni.cncf.io/v1',
      kind: 'NetworkAttachmentDefinition',
      metadata: { name: 'lan' },
      spec: { config: '{"cniVersion":"1.0.0","name":"lan","type":"bridge","bridge":"br1"}' },
    });
    cluster.clock.advance(1_000);
  });

  afterEach(() => cluster.close());

  const vmi = () =>
    cluster.sandbox.store.require<VirtualMachineInstance>(RESOURCES.vmi, { namespace: 'tailvm', name: 'web' });
  const required = () => findCondition(vmi().status?.conditions, 'MigrationRequired');
  const card = () => vmi().status?.interfaces?.find(({ name }) => name === 'lan');
  const patch = (interfaces: object[], networks: object[]) =>
    cluster.call(
      'PATCH',
      `${cluster.vms}/web`,
      { spec: { template: { spec: { domain: { devices: { interfaces } }, networks } } } },
      MERGE,
    );
  const pod = { card: { name: 'default', masquerade: {}, model: 'virtio' }, network: { name: 'default', pod: {} } };
  const plug = (extra: object = {}) =>
    patch(
      [pod.card, { name: 'lan', bridge: {}, model: 'virtio', ...extra }],
      [pod.network, { name: 'lan', multus: { networkName: 'lan' } }],
    );

  test('an added one requests a migration after a while, which plugs it', async () => {
    const { uid } = vmi().metadata;
    expect((await plug()).status).toBe(200);
    cluster.clock.advance(5_000);
    expect(required()).toMatchObject({ status: 'False', reason: 'AutoMigrationPending' });
    expect(card()).toBeUndefined();
    cluster.clock.advance(120_000);
    expect(required()).toBeUndefined();
    expect(card()).toMatchObject({
      interfaceName: 'enp2s0',
      infoSource: expect.stringContaining('multus-status') as string,
    });
    expect(card()?.ipAddress).toMatch(/^192\.168\./);
    expect(vmi().metadata.uid).toBe(uid);
    expect(vmi().status?.conditions?.map(({ type }) => type)).not.toContain('RestartRequired');
  });

  test('a removed one disappears the same way', async () => {
    await plug();
    cluster.clock.advance(120_000);
    expect((await plug({ state: 'absent' })).status).toBe(200);
    cluster.clock.advance(120_000);
    expect(card()).toBeUndefined();
    expect(required()).toBeUndefined();
    expect(vmi().status?.interfaces?.map(({ name }) => name)).toEqual(['default']);
  });

  test('without a workload updater the next migration plugs an added one', async () => {
    cluster.sandbox.store.patch(RESOURCES.kubevirt, { namespace: 'kubevirt', name: 'kubevirt' }, (kubevirt) =>
      Object.assign(kubevirt, { spec: { ...(kubevirt as { spec?: object }).spec, workloadUpdateStrategy: {} } }),
    );
    await plug();
    cluster.clock.advance(120_000);
    expect(required()).toMatchObject({ status: 'True', reason: 'AutoMigrationDueToLiveUpdate' });
    expect(card()).toBeUndefined();
    await cluster.act('virtualmachines', 'web', 'migrate');
    cluster.clock.advance(60_000);
    expect(card()).toBeDefined();
  });
});
