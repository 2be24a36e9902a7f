import { KubeSandbox, ManualClock, type KubeObject } from '@headgate/kube-sandbox';
import { KubevirtSimulation, type SimulationOptions } from '../kubevirt-simulation.js';
import { nearestRelease } from '../kubevirt-version.js';
import { RESOURCES } from '../resources.js';
import type { ImportReport } from './cluster-import.js';

const NAMESPACE = 'lab';
const KEY = { namespace: NAMESPACE, name: 'web' };
const START = Date.UTC(2026, 5, 1);
const UNREAD: readonly string[] = [RESOURCES.secret, RESOURCES.controllerRevision, RESOURCES.namespace];
const KINDS = Object.values(RESOURCES).filter((resource) => !UNREAD.includes(resource));

interface Cluster {
  readonly sandbox: KubeSandbox;
  readonly simulation: KubevirtSimulation;
  readonly clock: ManualClock;
}

describe('importCluster', () => {
  const opened: KubeSandbox[] = [];

  const open = async (cluster?: SimulationOptions['cluster']): Promise<Cluster> => {
    const clock = new ManualClock(START);
    const simulation = new KubevirtSimulation({ ...(cluster !== undefined && { cluster }) });
    const sandbox = await KubeSandbox.listen({ clock, extensions: [simulation] });
    opened.push(sandbox);
    return { sandbox, simulation, clock };
  };
  /** A cluster with a running and a stopped VM. */
  const openSource = async (): Promise<Cluster> => {
    const source = await open({});
    source.simulation.seedVm(
      { name: 'web', namespace: NAMESPACE },
      { name: 'off', namespace: NAMESPACE, status: 'Stopped' },
    );
    source.clock.advance(60_000);
    return source;
  };
  const objectsOf = ({ sandbox }: Cluster): KubeObject[] =>
    KINDS.flatMap((resource) => (sandbox.store.count(resource) > 0 ? sandbox.store.list(resource) : []));
  const run = (twin: Cluster, objects: readonly KubeObject[], inventsNodes = false): ImportReport => {
    const parts = twin.simulation.importCluster(objects, { inventsNodes });
    for (;;) {
      const { done, value } = parts.next();
      if (done) return value;
    }
  };
  const statusIn = ({ sandbox }: Cluster, name: string): unknown =>
    (
      sandbox.store.get(RESOURCES.vm, { namespace: NAMESPACE, name }) as
        { status?: { printableStatus?: string } } | undefined
    )?.status?.printableStatus;

  afterEach(async () => {
    for (const sandbox of opened.splice(0)) await sandbox.close();
  });

  test('keeps the IDs, generations and states of a cluster, which then rests', async () => {
    const source = await openSource();
    source.sandbox.store.patch(RESOURCES.vm, KEY, (draft) => void (draft.metadata.labels = { changed: 'yes' }));
    source.sandbox.store.patch(RESOURCES.vm, KEY, (draft) =>
      Object.assign((draft as unknown as { spec: object }).spec, { updateVolumesStrategy: 'Replacement' }),
    );
    source.clock.advance(60_000);
    const given = objectsOf(source);
    const twin = await open(false);
    expect(run(twin, given)).toMatchObject({ notes: [] });
    const place = ({ kind, metadata: { namespace, name, uid, generation } }: KubeObject): string =>
      [kind, namespace, name, uid, generation].join(' ');
    twin.clock.advance(10 * 60_000);
    expect(objectsOf(twin).map(place).sort()).toEqual(given.map(place).sort());
    expect([statusIn(twin, 'web'), statusIn(twin, 'off')]).toEqual(['Running', 'Stopped']);
    expect(twin.simulation.errors).toEqual([]);
  });

  test('continues a migration that has begun', async () => {
    const source = await openSource();
    source.sandbox.store.create(RESOURCES.migration, {
      apiVersion: 'kubevirt.io/v1',
      kind: 'VirtualMachineInstanceMigration',
      metadata: { name: 'move', namespace: NAMESPACE },
      spec: { vmiName: 'web' },
    } as KubeObject);
    source.clock.advance(9_000);
    expect(statusIn(source, 'web')).toBe('Migrating');
    const twin = await open(false);
    run(twin, objectsOf(source));
    twin.clock.advance(5 * 60_000);
    expect(statusIn(twin, 'web')).toBe('Running');
    expect(twin.sandbox.store.get(RESOURCES.migration, { namespace: NAMESPACE, name: 'move' })).toMatchObject({
      status: { phase: 'Succeeded' },
    });
  });

  test('leaves out what it does not know and what no API server accepts, and keeps unknown fields', async () => {
    const source = await openSource();
    const vm = source.sandbox.store.get(RESOURCES.vm, KEY)!;
    const twin = await open(false);
    const named = (name: unknown): KubeObject => ({
      ...vm,
      metadata: { ...vm.metadata, uid: 'x', name: name as string },
    });
    const { notes } = run(twin, [
      ...objectsOf(source),
      { ...vm, metadata: { ...vm.metadata } },
      named('../../etc/passwd'),
      named('a/b'),
      named(''),
      named(7),
      named('x'.repeat(300)),
      { apiVersion: 'example.org/v1', kind: 'Widget', metadata: { name: 'one', namespace: NAMESPACE } },
      { apiVersion: 'kubevirt.io/v1', kind: 'VirtualMachine', metadata: { name: 'empty', namespace: NAMESPACE } },
      { ...vm, metadata: { ...vm.metadata, name: 'odd', uid: 'odd' }, spec: { template: 'text' } } as KubeObject,
      { ...vm, metadata: { ...vm.metadata, name: 'new', uid: 'new' }, futureField: { a: 1 } } as KubeObject,
    ]);
    expect(notes).toEqual(["9 objects that the simulation can't store were left out."]);
    twin.clock.advance(60_000);
    const names = twin.sandbox.store.list(RESOURCES.vm).map(({ metadata }) => metadata.name);
    expect(names).toEqual(['new', 'off', 'web']);
    expect(twin.sandbox.store.get(RESOURCES.vm, { ...KEY, name: 'new' })).toMatchObject({ futureField: { a: 1 } });
    expect(twin.simulation.errors).toEqual([]);
  });

  test('keeps objects whose owners it does not have, and survives a circle of owners', async () => {
    const twin = await open(false);
    const pod = (name: string, uid: string, owner: string): KubeObject =>
      ({
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: {
          name,
          namespace: NAMESPACE,
          uid,
          ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name: 'other', uid: owner }],
        },
        spec: { nodeName: 'node-a', containers: [] },
        status: { phase: 'Running' },
      }) as KubeObject;
    run(twin, [pod('app', '1', 'of-a-deployment'), pod('a', '2', '3'), pod('b', '3', '2'), pod('self', '4', '4')]);
    expect(twin.sandbox.store.list(RESOURCES.pod).map(({ metadata }) => metadata.name)).toContain('app');
    expect(twin.sandbox.store.get(RESOURCES.pod, { namespace: NAMESPACE, name: 'app' })?.metadata.ownerReferences).toBe(
      undefined,
    );
  });

  test('keeps an object that is being deleted, with the finalizers of others', async () => {
    const source = await openSource();
    source.sandbox.store.patch(RESOURCES.vm, { ...KEY, name: 'off' }, ({ metadata }) => {
      metadata.finalizers = [...(metadata.finalizers ?? []), 'example.org/keep'];
    });
    source.sandbox.store.delete(RESOURCES.vm, { ...KEY, name: 'off' });
    const twin = await open(false);
    run(twin, objectsOf(source));
    twin.clock.advance(10 * 60_000);
    expect(twin.sandbox.store.get(RESOURCES.vm, { ...KEY, name: 'off' })?.metadata).toMatchObject({
      deletionTimestamp: expect.any(String),
      finalizers: ['example.org/keep'],
    });
  });

  test('invents the pod of a guest that was started between two lists', async () => {
    const source = await openSource();
    const objects = objectsOf(source).filter(({ metadata }) => !metadata.name.startsWith('virt-launcher-web'));
    const twin = await open(false);
    expect(run(twin, objects).notes).toEqual(['1 guest without a pod got an invented one.']);
    twin.clock.advance(60_000);
    expect(statusIn(twin, 'web')).toBe('Running');
  });

  test('invents nodes with room for everything for an account that may not read them', async () => {
    const source = await openSource();
    const objects = objectsOf(source).filter(({ kind }) => kind !== 'Node');
    const twin = await open(false);
    expect(run(twin, objects, true).notes).toEqual([
      'The nodes could not be read: 1 invented one has room for everything, so a lack of room does not show.',
    ]);
    expect(twin.sandbox.store.list(RESOURCES.node)).toHaveLength(1);
    twin.sandbox.store.patch(RESOURCES.vm, { ...KEY, name: 'off' }, (draft) =>
      Object.assign((draft as unknown as { spec: object }).spec, { runStrategy: 'Always' }),
    );
    twin.clock.advance(60_000);
    expect(statusIn(twin, 'off')).toBe('Running');
  });

  test('has an empty Secret for each one that a VM names', async () => {
    const source = await openSource();
    source.sandbox.store.patch(RESOURCES.vm, { ...KEY, name: 'off' }, (draft) =>
      (draft as unknown as { spec: { template: { spec: { volumes: object[] } } } }).spec.template.spec.volumes.push({
        name: 'seed',
        cloudInitNoCloud: { secretRef: { name: 'user-data' } },
      }),
    );
    const twin = await open(false);
    run(twin, objectsOf(source));
    const secret = twin.sandbox.store.get(RESOURCES.secret, { namespace: NAMESPACE, name: 'user-data' });
    expect(secret).toBeDefined();
    expect(secret).not.toHaveProperty('data');
  });

  test('uses the configuration of KubeVirt wherever the cluster has it', async () => {
    const source = await open({ vmRolloutStrategy: 'Stage' });
    const objects = objectsOf(source).map((object) =>
      object.kind === 'KubeVirt'
        ? { ...object, metadata: { ...object.metadata, name: 'kubevirt-hyperconverged', namespace: 'openshift-cnv' } }
        : object,
    );
    const twin = await open(false);
    run(twin, objects);
    expect(twin.simulation.context.kubevirt?.spec.configuration?.vmRolloutStrategy).toBe('Stage');
    const without = await open(false);
    expect(run(without, []).notes).toEqual([
      "The configuration of KubeVirt could not be read, so the simulation's default is used.",
    ]);
  });
});

test.each([
  ['v1.6.2', '1.6'],
  ['v1.6.5', '1.6.5'],
  ['1.7.0', '1.7'],
  ['v1.9.3-rc.1', '1.9'],
  ['v2.0.0', '1.9'],
  ['v0.59.0', '1.3'],
  ['devel', undefined],
])('the nearest release of %s is %s', (version, release) => {
  expect(nearestRelease(version)).toBe(release);
});
