import type { PodDisruptionBudget } from '@headgate/kube-sandbox';
import type { SimulationOptions } from '../../kubevirt-simulation.js';
import { RESOURCES } from '../../resources.js';
import { listeningCluster } from '../../testing/listening-cluster.js';
import { buildVirtualMachine } from '../../testing/simulated-cluster.js';
import { findCondition, type Condition } from '../../types/condition.js';
import type { Pod } from '../../types/core-kinds.js';
import type { Migration } from '../../types/kubevirt-kinds.js';
import type { VirtualMachineInstance } from '../../types/virtual-machine-instance.js';
import type { VirtualMachine } from '../../types/virtual-machine.js';

const NAMESPACE = 'tailvm';
const WEBHOOK = 'admission webhook "virt-launcher-eviction-interceptor.kubevirt.io" denied the request:';
const TRIGGERED = 'Eviction triggered evacuation of VMI "tailvm/web"';

describe('the eviction of a launcher pod', () => {
  let cluster: Awaited<ReturnType<typeof listeningCluster>>;

  afterEach(() => cluster.close());

  const start = async (
    evictionStrategy: string | undefined,
    { migratable = true, ...options }: { migratable?: boolean } & SimulationOptions = {},
  ) => {
    cluster = await listeningCluster(options);
    const vm = buildVirtualMachine('web');
    if (evictionStrategy) vm.spec.template.spec.evictionStrategy = evictionStrategy;
    // A bridge to the pod network can't be migrated.
    if (!migratable) vm.spec.template.spec.domain.devices.interfaces = [{ name: 'default', bridge: {} }];
    expect((await cluster.call('POST', cluster.vms, vm)).status).toBe(201);
    cluster.clock.advance(30_000);
    expect(vmi().status?.phase).toBe('Running');
  };
  const vmi = () =>
    cluster.sandbox.store.require<VirtualMachineInstance>(RESOURCES.vmi, { namespace: NAMESPACE, name: 'web' });
  const pods = () => cluster.sandbox.store.ownedBy<Pod>(RESOURCES.pod, vmi().metadata.uid!);
  const migrations = () => cluster.sandbox.store.list<Migration>(RESOURCES.migration);
  const budgets = () => cluster.sandbox.store.list<PodDisruptionBudget>(RESOURCES.disruptionBudget);
  const evict = (query = '', name = pods()[0]!.metadata.name) =>
    cluster.call('POST', `/api/v1/namespaces/${NAMESPACE}/pods/${name}/eviction${query}`, {
      apiVersion: 'policy/v1',
      kind: 'Eviction',
      metadata: { name, namespace: NAMESPACE },
    });

  test.each(['LiveMigrate', 'LiveMigrateIfPossible'])('migrates the VMI with %s', async (strategy) => {
    await start(strategy);
    const { uid } = vmi().metadata;
    const from = vmi().status!.nodeName!;
    expect(await evict()).toMatchObject({ status: 429, json: { code: 429, message: `${WEBHOOK} ${TRIGGERED}` } });
    expect(vmi().status?.evacuationNodeName).toBe(from);
    cluster.clock.advance(1_000);
    expect(migrations()[0]!.metadata).toMatchObject({
      name: expect.stringMatching(/^kubevirt-evacuation-/),
      annotations: { 'kubevirt.io/evacuationMigration': from },
    });
    expect(await evict()).toMatchObject({
      status: 429,
      json: { message: `${WEBHOOK} Evacuation in progress: ${TRIGGERED}` },
    });
    cluster.clock.advance(60_000);
    expect(vmi().metadata.uid).toBe(uid);
    expect(vmi().status?.nodeName).not.toBe(from);
    expect(vmi().status?.evacuationNodeName).toBeUndefined();
    expect(migrations()).toHaveLength(1);
    expect(pods()).toHaveLength(1);
  });

  const requested = (object: { status?: { conditions?: Condition[] } }) =>
    findCondition(object.status?.conditions, 'EvictionRequested');
  const machine = () =>
    cluster.sandbox.store.require<VirtualMachine>(RESOURCES.vm, { namespace: NAMESPACE, name: 'web' });

  test('is a condition of the VMI and its VM until the VMI has left the node', async () => {
    await start('LiveMigrate');
    expect(requested(vmi())).toBeUndefined();
    await evict();
    cluster.clock.advance(1_000);
    for (const object of [vmi(), machine()])
      expect(requested(object)).toMatchObject({ status: 'True', reason: 'EvictionRequested' });
    cluster.clock.advance(60_000);
    for (const object of [vmi(), machine()]) expect(requested(object)).toBeUndefined();
  });

  test('stays a condition while the migration fails', async () => {
    await start('LiveMigrate');
    cluster.simulation.faults.inject('migration-failure', { namespace: NAMESPACE, name: 'web' });
    await evict();
    cluster.clock.advance(30_000);
    expect(migrations().some(({ status }) => status?.phase === 'Failed')).toBe(true);
    expect(requested(vmi())).toMatchObject({ status: 'True' });
  });

  test.each([
    ['1.6', undefined],
    ['1.7', 'True'],
  ] as const)('in %s is a condition with the status %s', async (kubevirtVersion, status) => {
    await start('External', { kubevirtVersion });
    await evict();
    cluster.clock.advance(1_000);
    expect(vmi().status?.evacuationNodeName).toBe(vmi().status?.nodeName);
    expect(requested(vmi())?.status).toBe(status);
  });

  test('changes nothing in a dry run', async () => {
    await start('LiveMigrate');
    const { resourceVersion } = vmi().metadata;
    expect(await evict('?dryRun=All')).toMatchObject({ status: 429, json: { message: `${WEBHOOK} ${TRIGGERED}` } });
    cluster.clock.advance(60_000);
    expect(vmi().metadata.resourceVersion).toBe(resourceVersion);
    expect(migrations()).toEqual([]);
  });

  test('a dry run without an eviction strategy keeps the VM running', async () => {
    await start(undefined);
    const { uid } = vmi().metadata;
    expect((await evict('?dryRun=All')).status).toBe(201);
    cluster.clock.advance(60_000);
    expect(vmi().metadata.uid).toBe(uid);
  });

  test.each([
    [undefined, true],
    ['None', true],
    ['LiveMigrateIfPossible', false],
  ])('restarts the VM with the strategy %s, migratable: %s', async (strategy, migratable) => {
    await start(strategy, { migratable });
    const { uid } = vmi().metadata;
    expect((await evict()).status).toBe(201);
    cluster.clock.advance(120_000);
    expect(vmi().metadata.uid).not.toBe(uid);
    expect(vmi().status?.phase).toBe('Running');
  });

  test('is denied with LiveMigrate when the VMI is not migratable', async () => {
    await start('LiveMigrate', { migratable: false });
    expect(await evict()).toMatchObject({
      status: 429,
      json: { message: `${WEBHOOK} VMI web is configured with an eviction strategy but is not live-migratable` },
    });
    expect(vmi().status?.evacuationNodeName).toBeUndefined();
  });

  test('is denied with External, which leaves the migration to another controller', async () => {
    await start('External');
    expect(await evict()).toMatchObject({ status: 429, json: { message: `${WEBHOOK} ${TRIGGERED}` } });
    cluster.clock.advance(60_000);
    expect(vmi().status?.evacuationNodeName).toBe(vmi().status?.nodeName);
    expect(migrations()).toEqual([]);
  });

  test('follows the strategy of the cluster when the VMI has none', async () => {
    await start(undefined);
    cluster.sandbox.store.patch(RESOURCES.kubevirt, { namespace: 'kubevirt', name: 'kubevirt' }, (kubevirt) => {
      (kubevirt as never as { spec: { configuration: object } }).spec.configuration = {
        evictionStrategy: 'LiveMigrate',
      };
    });
    expect(await evict()).toMatchObject({ status: 429, json: { message: `${WEBHOOK} ${TRIGGERED}` } });
  });

  test('is also prevented by a disruption budget, which protects both pods during a migration', async () => {
    await start('LiveMigrate');
    expect(budgets()[0]).toMatchObject({
      spec: { minAvailable: 1, selector: { matchLabels: { 'kubevirt.io/created-by': vmi().metadata.uid } } },
      status: { expectedPods: 1, currentHealthy: 1, disruptionsAllowed: 0 },
    });
    await evict();
    cluster.clock.advance(5_000);
    expect(budgets()[0]?.spec?.minAvailable).toBe(2);
    const target = pods().find(({ spec }) => spec.nodeName !== vmi().status?.nodeName)!;
    cluster.sandbox.store.patch<VirtualMachineInstance>(RESOURCES.vmi, vmi().metadata, ({ status }) => {
      delete status!.evacuationNodeName;
    });
    expect(await evict('', target.metadata.name)).toMatchObject({
      status: 429,
      json: { message: `${WEBHOOK} Eviction request for target Pod` },
    });
    cluster.clock.advance(60_000);
    expect(budgets()).toHaveLength(1);
    expect(budgets()[0]?.spec?.minAvailable).toBe(1);
    cluster.sandbox.store.delete(RESOURCES.vm, { namespace: NAMESPACE, name: 'web' });
    cluster.clock.advance(60_000);
    expect(budgets()).toEqual([]);
  });
});
