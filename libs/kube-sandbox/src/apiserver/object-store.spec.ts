import { ApiError } from './api-error.js';
import { ManualClock } from './clock.js';
import type { KubeObject } from './kube-object.js';
import { ObjectStore } from './object-store.js';
import { ResourceRegistry } from './resource-registry.js';
import type { StoreEvent } from './store/store-event.js';

interface Machine extends KubeObject {
  spec: { size: number };
  status?: { phase: string };
}

const MACHINES = 'machines.lab.dev';

function openStore(historyLimit = 100) {
  const registry = new ResourceRegistry();
  const versions = [{ name: 'v1', served: true }];
  registry.register({
    group: 'lab.dev',
    plural: 'machines',
    singular: 'machine',
    kind: 'Machine',
    namespaced: true,
    versions,
    statusSubresource: true,
  });
  registry.register({
    group: '',
    plural: 'pods',
    singular: 'pod',
    kind: 'Pod',
    namespaced: true,
    versions,
    strategy: { gracePeriodSeconds: (_, wish) => wish ?? 30 },
  });
  const clock = new ManualClock();
  return { registry, clock, store: new ObjectStore({ registry, clock, historyLimit }) };
}

const machine = (name: string, size = 1, namespace = 'lab', labels?: Record<string, string>): Machine => ({
  apiVersion: 'lab.dev/v1',
  kind: 'Machine',
  metadata: { name, namespace, ...(labels && { labels }) },
  spec: { size },
});

const refusal = (run: () => unknown): { code: number; message: string } => {
  let error: unknown;
  expect(() => {
    try {
      run();
    } catch (caught) {
      error = caught;
      throw caught;
    }
  }).toThrow(ApiError);
  const { code, message } = error as ApiError;
  return { code, message };
};

describe('ObjectStore', () => {
  test('assigns a uid, a timestamp, generation 1 and the next revision to a new object', () => {
    const { store } = openStore();
    const before = store.revision;
    const { metadata } = store.create(MACHINES, machine('a'));
    expect(metadata).toMatchObject({
      generation: 1,
      creationTimestamp: '2026-01-01T00:00:00Z',
      resourceVersion: String(before + 1),
    });
    expect(metadata.uid).toMatch(/^[0-9a-f-]{36}$/);
  });

  test('completes a generated name', () => {
    const { store } = openStore();
    const created = store.create(MACHINES, {
      ...machine(''),
      metadata: { name: '', generateName: 'a-', namespace: 'lab' },
    });
    expect(created.metadata.name).toMatch(/^a-[bcdfghjklmnpqrstvwxz2456789]{5}$/);
  });

  test('protects stored objects from changes by callers', () => {
    const { store } = openStore();
    const given = machine('a');
    const created = store.create(MACHINES, given);
    given.spec.size = 9;
    expect(() => {
      created.spec.size = 9;
    }).toThrow(TypeError);
    expect(store.require<Machine>(MACHINES, { namespace: 'lab', name: 'a' }).spec.size).toBe(1);
  });

  test('refuses a second object of the same name', () => {
    const { store } = openStore();
    store.create(MACHINES, machine('a'));
    expect(refusal(() => store.create(MACHINES, machine('a')))).toEqual({
      code: 409,
      message: 'machines.lab.dev "a" already exists',
    });
  });

  test('refuses an update based on an older revision', () => {
    const { store } = openStore();
    const stale = store.create(MACHINES, machine('a'));
    store.patch<Machine>(MACHINES, stale.metadata, (draft) => void (draft.spec.size = 2));
    expect(refusal(() => store.update(MACHINES, { ...stale, spec: { size: 3 } }))).toEqual({
      code: 409,
      message:
        'Operation cannot be fulfilled on machines.lab.dev "a": the object has been modified; please apply your changes to the latest version and try again',
    });
  });

  test('increments the generation for the spec and not for status or metadata', () => {
    const { store } = openStore();
    const { metadata } = store.create(MACHINES, machine('a'));
    const generation = (change: (draft: Machine) => void) =>
      store.patch(MACHINES, metadata, change).metadata.generation;
    expect(generation((draft) => void (draft.status = { phase: 'Up' }))).toBe(1);
    expect(generation((draft) => void (draft.metadata.labels = { a: 'b' }))).toBe(1);
    expect(generation((draft) => void (draft.spec.size = 2))).toBe(2);
  });

  test('creates neither a revision nor an event when a patch changes nothing', () => {
    const { store } = openStore();
    const { metadata } = store.create(MACHINES, machine('a'));
    const events: StoreEvent[] = [];
    store.subscribe('*', (event) => events.push(event));
    const before = store.revision;
    store.patch<Machine>(MACHINES, metadata, (draft) => void (draft.spec.size = 1));
    expect([store.revision, events]).toEqual([before, []]);
  });

  test('shares the unchanged parts of an object between its revisions', () => {
    const { store } = openStore();
    const before = store.create<Machine & { extra?: object }>(MACHINES, {
      ...machine('a'),
      extra: { deep: { list: [1] } },
    });
    const after = store.patch<Machine & { extra?: object }>(
      MACHINES,
      before.metadata,
      (draft) => void (draft.spec.size = 2),
    );
    expect(after.extra).toBe(before.extra);
    expect([before.spec.size, after.spec.size]).toEqual([1, 2]);
    const touched = store.patch<Machine>(
      MACHINES,
      before.metadata,
      ({ metadata }) => void (metadata.labels = { a: 'b' }),
    );
    expect(touched.spec).toBe(after.spec);
  });

  test('returns the result of a dry run and commits nothing', () => {
    const { store } = openStore();
    expect(store.create(MACHINES, machine('a'), { dryRun: true }).metadata.uid).toBeDefined();
    expect(store.count(MACHINES)).toBe(0);
  });

  test('keeps an object that is being deleted until its last finalizer is gone', () => {
    const { store } = openStore();
    const { metadata } = store.create(MACHINES, {
      ...machine('a'),
      metadata: { name: 'a', namespace: 'lab', finalizers: ['lab.dev/x'] },
    });
    const { object, gone } = store.delete(MACHINES, metadata);
    expect([gone, object.metadata.deletionTimestamp, object.metadata.deletionGracePeriodSeconds]).toEqual([
      false,
      '2026-01-01T00:00:00Z',
      0,
    ]);
    store.patch(MACHINES, metadata, (draft) => void (draft.metadata.finalizers = []));
    expect(store.get(MACHINES, metadata)).toBeUndefined();
  });

  test('keeps an object for its grace period until it is deleted with zero', () => {
    const { store } = openStore();
    const pod = store.create('pods', { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p', namespace: 'lab' } });
    expect(store.delete('pods', pod.metadata).object.metadata).toMatchObject({
      deletionTimestamp: '2026-01-01T00:00:30Z',
      deletionGracePeriodSeconds: 30,
    });
    expect(store.delete('pods', pod.metadata, { gracePeriodSeconds: 0 }).gone).toBe(true);
  });

  test('refuses to delete an object with another uid', () => {
    const { store } = openStore();
    const { metadata } = store.create(MACHINES, machine('a'));
    expect(refusal(() => store.delete(MACHINES, metadata, { preconditions: { uid: 'other' } })).code).toBe(409);
  });

  test('lists by namespace and name in the order of etcd keys', () => {
    const { store } = openStore();
    store.load([machine('b', 1, 'lab'), machine('a', 1, 'lab'), machine('z', 1, 'lab-2')]);
    const names = (namespace?: string) =>
      store.list(MACHINES, { namespace }).map(({ metadata }) => `${metadata.namespace}/${metadata.name}`);
    expect(names()).toEqual(['lab-2/z', 'lab/a', 'lab/b']);
    expect(names('lab')).toEqual(['lab/a', 'lab/b']);
  });

  test('selects by labels', () => {
    const { store } = openStore();
    store.load([
      machine('a', 1, 'lab', { tier: 'x' }),
      machine('b', 1, 'lab', { tier: 'y', old: 'true' }),
      machine('c'),
    ]);
    const names = (labels: string) => store.list(MACHINES, { labels }).map(({ metadata }) => metadata.name);
    expect(names('tier')).toEqual(['a', 'b']);
    expect(names('tier in (x,y),!old')).toEqual(['a']);
    expect(names('tier!=x')).toEqual(['b', 'c']);
  });

  test('returns past revisions as long as the history contains them', () => {
    const { store } = openStore();
    store.load([machine('a'), machine('b')]);
    const past = store.revision;
    store.delete(MACHINES, { namespace: 'lab', name: 'a' });
    store.patch<Machine>(MACHINES, { namespace: 'lab', name: 'b' }, (draft) => void (draft.spec.size = 7));
    store.create(MACHINES, machine('c'));
    expect(store.listAt<Machine>(MACHINES, past).map(({ metadata, spec }) => [metadata.name, spec.size])).toEqual([
      ['a', 1],
      ['b', 1],
    ]);
    store.compact();
    expect(refusal(() => store.listAt(MACHINES, past)).code).toBe(410);
  });

  test('discards the oldest changes when the history is full', () => {
    const { store } = openStore(4);
    const start = store.revision;
    store.load(['a', 'b', 'c', 'd', 'e', 'f'].map((name) => machine(name)));
    expect(refusal(() => store.eventsSince(MACHINES, start))).toEqual({
      code: 410,
      message: `too old resource version: ${start} (${store.revision})`,
    });
    expect(store.eventsSince(MACHINES, store.revision - 2).map(({ object }) => object.metadata.name)).toEqual([
      'e',
      'f',
    ]);
  });

  test('delivers changes to every listener in the order of revisions, including those of other listeners', () => {
    const { store } = openStore();
    const seen: number[] = [];
    store.subscribe(MACHINES, ({ type, object }) => {
      if (type === 'ADDED')
        store.patch<Machine>(MACHINES, object.metadata, (draft) => void (draft.status = { phase: 'Up' }));
    });
    store.subscribe('*', ({ revision }) => seen.push(revision));
    store.create(MACHINES, machine('a'));
    expect(seen).toEqual([store.revision - 1, store.revision]);
  });

  test('finds the dependents of an owner', () => {
    const { store } = openStore();
    const owner = store.create(MACHINES, machine('a'));
    const ownerReferences = [{ apiVersion: 'lab.dev/v1', kind: 'Machine', name: 'a', uid: owner.metadata.uid! }];
    store.create('pods', { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p', namespace: 'lab', ownerReferences } });
    expect(store.ownedBy('pods', owner.metadata.uid!).map(({ metadata }) => metadata.name)).toEqual(['p']);
    store.delete('pods', { namespace: 'lab', name: 'p' }, { gracePeriodSeconds: 0 });
    expect(store.dependentsOf(owner.metadata.uid!)).toEqual([]);
  });
});
