import { ApiError } from '../api-error.js';
import { ManualClock } from '../clock.js';
import type { KubeObject } from '../kube-object.js';
import { ObjectStore } from '../object-store.js';
import { ResourceRegistry } from '../resource-registry.js';
import type { ObjectsAtRest } from './objects-at-rest.js';
import type { StoreEvent, SubscribeOptions } from './store-event.js';

const MACHINES = 'machines.lab.dev';
const PODS = 'pods';

function openStore() {
  const registry = new ResourceRegistry();
  const versions = [{ name: 'v1', served: true }];
  registry.register({
    group: 'lab.dev',
    plural: 'machines',
    singular: 'machine',
    kind: 'Machine',
    namespaced: true,
    versions,
  });
  registry.register({
    group: '',
    plural: PODS,
    singular: 'pod',
    kind: 'Pod',
    namespaced: true,
    versions,
    hasGeneration: false,
  });
  const store = new ObjectStore({ registry, clock: new ManualClock() });
  const built: string[] = [];
  /** A machine that owns a pod. */
  const group = (name: string, namespace = 'lab', onBuild = (): void => undefined): ObjectsAtRest => ({
    members: [
      { resource: MACHINES, namespace, name, uid: `machine-${name}` },
      { resource: PODS, namespace, name: `${name}-pod`, uid: `pod-${name}`, owners: [`machine-${name}`] },
    ],
    build: () => {
      built.push(name);
      onBuild();
      const reference = { apiVersion: 'lab.dev/v1', kind: 'Machine', name, uid: `machine-${name}` };
      return [
        { apiVersion: 'lab.dev/v1', kind: 'Machine', metadata: { name, labels: { name } }, spec: { size: 1 } },
        { apiVersion: 'v1', kind: 'Pod', metadata: { name: `${name}-pod`, ownerReferences: [reference] } },
      ] as KubeObject[];
    },
  });
  const seen = (resource: string, options?: SubscribeOptions): string[] => {
    const events: string[] = [];
    store.subscribe(resource, ({ type, object }) => events.push(`${type} ${object.metadata.name}`), options);
    return events;
  };
  return { store, built, group, seen };
}

const key = (name: string, namespace = 'lab') => ({ namespace, name });
const refusal = (action: () => unknown): number | undefined => {
  try {
    action();
  } catch (error) {
    if (error instanceof ApiError) return error.code;
    throw error;
  }
  return undefined;
};

describe('objects at rest', () => {
  test('are counted and found without being built, and built with their group when one is read', () => {
    const { store, built, group } = openStore();
    store.loadAtRest([group('a'), group('b')]);
    expect([store.count(MACHINES), store.count(PODS, 'lab')]).toEqual([2, 2]);
    expect(store.keys(MACHINES)).toEqual([key('a'), key('b')]);
    expect(store.dependentsOf('machine-a').map(({ name }) => name)).toEqual(['a-pod']);
    expect(built).toEqual([]);

    const pod = store.require(PODS, key('a-pod'));
    expect(built).toEqual(['a']);
    expect(store.get(PODS, key('a-pod'))).toBe(pod);
    expect(store.findByUid('machine-a')?.object).toBe(store.get(MACHINES, key('a')));
    expect(built).toEqual(['a']);
  });

  test('have the fields of the server and are frozen', () => {
    const { store, group } = openStore();
    const before = store.revision;
    store.loadAtRest([group('a')]);
    const [machine, pod] = [store.require(MACHINES, key('a')), store.require(PODS, key('a-pod'))];
    expect(machine.metadata).toMatchObject({
      namespace: 'lab',
      uid: 'machine-a',
      generation: 1,
      resourceVersion: String(before + 1),
    });
    expect(machine.metadata.creationTimestamp).toMatch(/Z$/);
    expect(pod.metadata.resourceVersion).toBe(String(before + 2));
    expect(pod.metadata).not.toHaveProperty('generation');
    expect(Object.isFrozen(machine.metadata.labels)).toBe(true);
  });

  test('can be changed and deleted like any other, with their dependents', () => {
    const { store, group } = openStore();
    store.loadAtRest([group('a')]);
    store.patch(MACHINES, key('a'), ({ metadata }) => void (metadata.labels = { changed: 'yes' }));
    expect(store.get(MACHINES, key('a'))?.metadata).toMatchObject({ labels: { changed: 'yes' }, generation: 1 });
    store.delete(PODS, key('a-pod'));
    expect(store.dependentsOf('machine-a')).toEqual([]);
    store.delete(MACHINES, key('a'));
    expect([store.count(MACHINES), store.count(PODS)]).toEqual([0, 0]);
  });

  test('block their names', () => {
    const { store, group } = openStore();
    store.loadAtRest([group('a')]);
    expect(refusal(() => store.loadAtRest([group('b'), group('a')]))).toBe(409);
    expect(store.list(MACHINES).map(({ metadata }) => metadata.name)).toEqual(['a', 'b']);
  });

  test('a page builds only its own objects', () => {
    const { store, built, group } = openStore();
    store.loadAtRest(['d', 'c', 'b', 'a'].map((name) => group(name)));
    store.loadAtRest([group('z', 'another')]);
    const names = (options: { after?: ReturnType<typeof key>; limit: number; namespace?: string }) =>
      store.page(MACHINES, options).map(({ metadata }) => metadata.name);
    expect(names({ namespace: 'lab', limit: 2 })).toEqual(['a', 'b']);
    expect(built).toEqual(['a', 'b']);
    expect(names({ limit: 2 })).toEqual(['z', 'a']);
    expect(names({ after: key('z', 'another'), limit: 1 })).toEqual(['a']);
    expect(names({ after: key('b'), limit: 9 })).toEqual(['c', 'd']);
    expect(store.countAfter(MACHINES, undefined, key('z', 'another'))).toBe(4);
    expect(store.countAfter(MACHINES, 'lab', key('c'))).toBe(1);
  });

  test('a list in pages builds nothing twice, and keeps the order when an object is deleted between them', () => {
    const { store, group } = openStore();
    store.loadAtRest(['a', 'b', 'c'].map((name) => group(name)));
    const [first] = store.page(MACHINES, { limit: 1 });
    store.delete(MACHINES, first!.metadata);
    expect(store.page(MACHINES, { after: first!.metadata, limit: 5 }).map(({ metadata }) => metadata.name)).toEqual([
      'b',
      'c',
    ]);
  });

  test('reach each listener when it wants them', () => {
    const { store, built, group, seen } = openStore();
    const whenBuilt = seen(MACHINES, { atRest: 'when-built' });
    const never = seen('*', { atRest: 'never' });
    store.loadAtRest([group('a')]);
    expect([built, whenBuilt]).toEqual([[], []]);
    store.get(PODS, key('a-pod'));
    expect(whenBuilt).toEqual(['ADDED a']);
    expect(never).toEqual([]);
    store.delete(MACHINES, key('a'));
    expect([whenBuilt.at(-1), never]).toEqual(['DELETED a', ['DELETED a']]);

    const atLoad = seen(MACHINES);
    store.loadAtRest([group('b')]);
    expect([atLoad, whenBuilt.at(-1)]).toEqual([['ADDED b'], 'ADDED b']);
    store.list(MACHINES);
    expect(atLoad).toEqual(['ADDED b']);
  });

  test('an event says the revision of its object', () => {
    const { store, group } = openStore();
    const events: StoreEvent[] = [];
    store.subscribe(MACHINES, (event) => events.push(event));
    store.loadAtRest([group('a'), group('b')]);
    expect(events.map(({ revision }) => String(revision))).toEqual(
      events.map(({ object }) => object.metadata.resourceVersion),
    );
    expect(events[0]!.revision).toBeLessThan(events[1]!.revision);
  });

  test('a watch can resume after the load, not before it', () => {
    const { store, group } = openStore();
    const before = store.revision;
    store.loadAtRest([group('a')]);
    expect(refusal(() => store.eventsSince(MACHINES, before))).toBe(410);
    expect(store.eventsSince(MACHINES, store.revision)).toEqual([]);
    const after = store.revision;
    store.patch(MACHINES, key('a'), ({ metadata }) => void (metadata.labels = {}));
    expect(store.eventsSince(MACHINES, after)).toHaveLength(1);
    expect(store.listAt(MACHINES, after)[0]!.metadata.labels).toEqual({ name: 'a' });
  });

  test('do not see themselves while they are built', () => {
    const { store, built, group } = openStore();
    const found: unknown[] = [];
    store.loadAtRest([group('a', 'lab', () => found.push(store.get(MACHINES, key('a')), ...store.list(PODS)))]);
    expect(store.list(MACHINES)).toHaveLength(1);
    expect([found, built]).toEqual([[undefined], ['a']]);
  });

  test('are built at the next read when the first attempt failed', () => {
    const { store, group } = openStore();
    let broken = true;
    store.loadAtRest([
      group('a', 'lab', () => {
        if (broken) throw new Error('not yet');
      }),
    ]);
    expect(() => store.get(MACHINES, key('a'))).toThrow('not yet');
    broken = false;
    expect(store.get(MACHINES, key('a'))?.metadata.name).toBe('a');
  });
});
