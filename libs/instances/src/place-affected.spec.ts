import type { AffectedInstance, ClusterNode } from '@headgate/domain-contracts';
import { placeAffected } from './place-affected.js';

const GIB = 1024 ** 3;

const node = (name: string, gib: number | null, cpus = 4): ClusterNode => ({
  name,
  ready: true,
  roles: 'worker',
  kubelet: 'v1',
  arch: 'amd64',
  cpuMillicores: cpus * 1000,
  memoryBytes: 64 * GIB,
  allocatable: { cpuMillicores: cpus * 1000, memoryBytes: gib === null ? null : gib * GIB },
  zone: '',
  unschedulable: '',
});
const instance = (name: string, gib: number, more: Partial<AffectedInstance> = {}): AffectedInstance => ({
  ref: { kind: 'vm', context: 'lab', namespace: 'default', name },
  cpu: 1,
  memoryBytes: gib * GIB,
  staysDown: '',
  candidates: ['a', 'b'],
  unchecked: [],
  ...more,
});
const none = new Map<string, never>();

const outcomes = (
  instances: AffectedInstance[],
  nodes: ClusterNode[],
  { cpusPerCpu = 10, promised = none as ReadonlyMap<string, never> } = {},
) =>
  Object.fromEntries(
    placeAffected(instances, { cpusPerCpu, nodes, promised }).map(({ instance: { ref }, outcome, nodes: named }) => [
      ref.name,
      [outcome, ...named],
    ]),
  );

test('places the largest first, on the node with the most free memory', () => {
  expect(outcomes([instance('small', 2), instance('large', 6)], [node('a', 4), node('b', 7)])).toEqual({
    large: ['restarts', 'b'],
    small: ['restarts', 'a'],
  });
});

test('has no room for what the others take, and for more virtual CPUs than a node may promise', () => {
  expect(outcomes([instance('one', 5), instance('two', 4)], [node('a', 8)])).toEqual({
    one: ['restarts', 'a'],
    two: ['no-room'],
  });
  const wide = instance('wide', 1, { cpu: 8 });
  expect(outcomes([wide], [node('a', 8)], { cpusPerCpu: 1 })).toEqual({ wide: ['no-room'] });
  expect(outcomes([wide], [node('a', 8)], { cpusPerCpu: 2 })).toEqual({ wide: ['restarts', 'a'] });
});

test('counts the promises of a node, and whole CPUs for its containers', () => {
  const promised = new Map([['a', { virtualCpus: 6, cpus: 3, memoryBytes: 6 * GIB }]]) as never;
  expect(outcomes([instance('vm', 2)], [node('a', 8)], { promised })).toEqual({ vm: ['restarts', 'a'] });
  expect(outcomes([instance('vm', 3)], [node('a', 8)], { promised })).toEqual({ vm: ['no-room'] });
  expect(outcomes([instance('vm', 2, { cpu: 5 })], [node('a', 8)], { promised })).toEqual({ vm: ['no-room'] });
});

test('keeps the reason of one that stays down, and assumes nothing about a node of unknown size', () => {
  const [down] = placeAffected([instance('pinned', 1, { staysDown: 'It is pinned.', candidates: [] })], {
    cpusPerCpu: 1,
    nodes: [node('a', 8)],
    promised: none,
  });
  expect(down).toMatchObject({ outcome: 'stays-down', reason: 'It is pinned.', nodes: [] });
  const [unknown] = placeAffected([instance('vm', 1)], { cpusPerCpu: 1, nodes: [node('a', null)], promised: none });
  expect(unknown).toMatchObject({ outcome: 'no-room', reason: 'No node that may run it has room: a, b.' });
});
