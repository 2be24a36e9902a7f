import type { OperationRequest } from '@headgate/testing';
import { NAMESPACE } from './story-requests.js';

/** The names of a contest: VMs that exist, and a free name. */
export interface ContestNames {
  readonly one: string;
  readonly two: string;
  readonly free: string;
}

/** A request, and whether it was carried out, by the objects of the cluster as `Kind/name`. */
export interface Contestant {
  readonly request: OperationRequest;
  isDone(objects: readonly string[]): boolean;
}

export interface Contest {
  readonly title: string;
  readonly contestants: (names: ContestNames) => readonly Contestant[];
}

const vms = (name: string, path = ''): string => `/api/vms/${NAMESPACE}/${name}${path}`;
const post = (path: string, body?: object): OperationRequest => ({ method: 'POST', path, ...(body && { body }) });

const create = ({ free }: ContestNames): Contestant => ({
  request: post('/api/vms', {
    name: free,
    namespace: NAMESPACE,
    context: 'lab',
    import: 'https://images.example/d.qcow2',
    cpu: 1,
    mem: '256Mi',
    disk: '16Mi',
  }),
  isDone: (objects) => objects.includes(`VirtualMachine/${free}`),
});

const clone = (source: string, { free }: ContestNames): Contestant => ({
  request: post(vms(source, '/clone'), { target: free }),
  isDone: (objects) => objects.includes(`VirtualMachine/${free}`),
});

const remove = (name: string): Contestant => ({
  request: { method: 'DELETE', path: vms(name) },
  isDone: (objects) => !objects.includes(`VirtualMachine/${name}`),
});

const snapshot = (name: string): Contestant => ({
  request: post(vms(name, '/snapshots'), { name: `${name}-s` }),
  isDone: (objects) => objects.includes(`VirtualMachineSnapshot/${name}-s`),
});

/** Requests about one VM or one name, of which exactly one wins. */
export const CONTESTS: readonly Contest[] = [
  { title: 'three creations of one name', contestants: (names) => [create(names), create(names), create(names)] },
  {
    title: 'clones of two VMs with one target',
    contestants: (names) => [clone(names.one, names), clone(names.two, names)],
  },
  {
    title: 'clones of one VM with one target',
    contestants: (names) => [clone(names.one, names), clone(names.one, names)],
  },
  {
    title: 'a clone and a creation of its target',
    contestants: (names) => [clone(names.one, names), create(names), clone(names.two, names)],
  },
  { title: 'a deletion and a snapshot', contestants: ({ one }) => [remove(one), snapshot(one)] },
  { title: 'two snapshots of one name', contestants: ({ one }) => [snapshot(one), snapshot(one)] },
  { title: 'a deletion and a clone', contestants: (names) => [remove(names.one), clone(names.one, names)] },
];

export const moveTo = (context: string, name: string): OperationRequest =>
  post('/api/move', { ref: `vm/lab/${NAMESPACE}/${name}`, toBackend: 'kubevirt', toContext: context });
export const setTag = (name: string, tag: string): OperationRequest => post(vms(name, '/tags'), { tag, on: true });
