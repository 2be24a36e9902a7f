import type { InstanceRef } from '@headgate/domain-contracts';
import type { KubeApi } from '../api/kube-api.js';
import type { KubeObject } from '../api/kube-object.js';
import { operationAnnotations, operationName } from '../api/operation-objects.js';
import { CLONES, RESTORES, SNAPSHOTS, VIRTUAL_MACHINES, VM_INSTANCES, type Resource } from '../api/resources.js';
import { KubeCloning } from '../cloning/kube-cloning.js';
import type { ClusterDiscovery } from '../discovery/cluster-discovery.js';
import type { KubePower } from '../power/kube-power.js';
import type { WatchDeps } from '../watch/kind-watch.js';
import { KubeSnapshots } from './kube-snapshots.js';

const REF: InstanceRef = { kind: 'vm', context: 'prod', namespace: 'apps', name: 'web' };
const KEY = { id: 'task-1', wasRunning: true };
const NO_POWER = {} as KubePower;
const DISCOVERY = { facts: async () => ({ serves: () => true }) } as unknown as ClusterDiscovery;

type World = Partial<Record<string, readonly object[]>>;

const metadataOf = (name: string): KubeObject['metadata'] => ({
  name,
  namespace: REF.namespace,
  uid: `${name}-uid`,
  ...operationAnnotations(KEY),
});
const vmWith = (status: object): object => ({ metadata: metadataOf('web'), status });
const LIVE = { metadata: metadataOf('web'), status: { phase: 'Running' } };

/** An API whose objects change after each request, as those of a cluster that goes on working. */
function changingApi(worlds: readonly World[]): Pick<WatchDeps, 'api'> {
  let requests = 0;
  const read = ({ plural }: Resource): readonly KubeObject[] =>
    (worlds[Math.min(requests, worlds.length - 1)]?.[plural] ?? []) as readonly KubeObject[];
  const answered = <T>(answer: T): Promise<T> => {
    requests++;
    return Promise.resolve(answer);
  };
  const api = {
    list: (resource: Resource) => answered(read(resource)),
    // Both reads of a VM are sent together.
    find: async (resource: Resource, { name }: InstanceRef) => {
      const found = read(resource).find(({ metadata }) => metadata.name === name);
      await Promise.resolve();
      return resource === VM_INSTANCES ? found : answered(found);
    },
  };
  return { api: api as unknown as KubeApi };
}

const snapshotsOver = (...worlds: World[]): KubeSnapshots =>
  new KubeSnapshots(changingApi(worlds) as WatchDeps, DISCOVERY, NO_POWER);

describe('the state of an operation that goes on while it is read', () => {
  const ready = {
    metadata: metadataOf('s1'),
    spec: { source: { kind: 'VirtualMachine', name: 'web' } },
    status: { phase: 'Succeeded', readyToUse: true, sourceUID: 'web-uid' },
  };
  const before = { [VIRTUAL_MACHINES.plural]: [vmWith({})] };
  const locked = { [VIRTUAL_MACHINES.plural]: [vmWith({ snapshotInProgress: 's1' })], [SNAPSHOTS.plural]: [ready] };
  const released = { ...before, [SNAPSHOTS.plural]: [ready] };

  test('a snapshot that becomes ready is not done while its VM is locked', async () => {
    const operation = { kind: 'create', snapshot: 's1', ...KEY } as const;
    for (const worlds of [[before, locked], [before, before, locked], [locked]]) {
      const { state } = await snapshotsOver(...worlds).stateOf(REF, operation);
      expect(['running', 'absent']).toContain(state);
    }
    expect(await snapshotsOver(before, released).stateOf(REF, operation)).toEqual({ state: 'done' });
  });

  test('a restore is not done because its VM was running before it', async () => {
    const operation = { kind: 'restore', snapshot: 's1', ...KEY } as const;
    const complete = { metadata: metadataOf(operationName('s1', KEY)), status: { complete: true } };
    const running = { ...before, [VM_INSTANCES.plural]: [LIVE] };
    const stopped = { ...before, [RESTORES.plural]: [complete] };
    expect((await snapshotsOver(running, stopped).stateOf(REF, operation)).state).not.toBe('done');
    expect(await snapshotsOver({ ...running, ...stopped }).stateOf(REF, operation)).toEqual({ state: 'done' });
  });

  test('a clone that is complete and removed meanwhile is not absent', async () => {
    const clone = { metadata: metadataOf(operationName('web', KEY)), status: { phase: 'CreatingTargetVM' } };
    const copying = { [CLONES.plural]: [clone] };
    const cloning = new KubeCloning(changingApi([copying, before]) as WatchDeps, DISCOVERY);
    const source = { ...REF, name: 'template' };
    expect(await cloning.stateOf(source, REF, KEY)).toEqual({ state: 'done' });
  });
});
