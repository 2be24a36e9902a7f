import type { OperationRequest } from '@headgate/testing';

export const NAMESPACE = 'tailvm';

export type Action =
  | 'start'
  | 'stop'
  | 'delete'
  | 'tag'
  | 'scale'
  | 'create'
  | 'clone'
  | 'snapshot'
  | 'restore'
  | 'forget'
  | 'migrate'
  | 'template'
  | 'folder';

/** A request of one caller about one of the two names of a story. */
export interface Sent {
  readonly action: Action;
  readonly caller: number;
  /** 0 is the VM that exists at the beginning, 1 is a free name. */
  readonly vm: 0 | 1;
  /** The snapshot; for `template` and `folder`, 0 sets what 1 removes. */
  readonly snapshot: 0 | 1;
}

/** The CPUs of a VM before it is scaled. */
export const INITIAL_CPU = 1;
/** The CPUs that the request with this index sets. */
export const cpuOf = (index: number): number => INITIAL_CPU + 1 + (index % 4);
export const tagOf = (index: number): string => `t${index}`;
export const refOf = (name: string): string => `vm/lab/${NAMESPACE}/${name}`;
/** The folder of a story. */
export const folderOf = (nameOf: (vm: 0 | 1) => string): string => `folder-${nameOf(0)}`;
export const snapshotName = (vm: string, snapshot: 0 | 1): string => `${vm}-s${snapshot}`;

/** @param index of the request in its story */
export function requestOf(
  { action, vm, snapshot, index }: Sent & { readonly index: number },
  nameOf: (vm: 0 | 1) => string,
): OperationRequest {
  const name = nameOf(vm);
  const path = `/api/vms/${NAMESPACE}/${name}`;
  const snapshots = `${path}/snapshots`;
  const post = (url: string, body?: object): OperationRequest => ({ method: 'POST', path: url, ...(body && { body }) });
  switch (action) {
    case 'delete':
      return { method: 'DELETE', path };
    case 'tag':
      return post(`${path}/tags`, { tag: tagOf(index), on: true });
    case 'scale':
      return post(`${path}/scale`, { cpu: cpuOf(index) });
    case 'create':
      return post('/api/vms', {
        name,
        namespace: NAMESPACE,
        context: 'lab',
        import: 'https://images.example/d.qcow2',
        cpu: INITIAL_CPU,
        mem: '256Mi',
        disk: '16Mi',
      });
    case 'clone':
      return post(`${path}/clone`, { target: nameOf(vm === 0 ? 1 : 0) });
    case 'snapshot':
      return post(snapshots, { name: snapshotName(name, snapshot) });
    case 'restore':
      return post(`${snapshots}/${snapshotName(name, snapshot)}/restore`);
    case 'forget':
      return { method: 'DELETE', path: `${snapshots}/${snapshotName(name, snapshot)}` };
    case 'template':
      return post(`${path}/template`, { on: snapshot === 0 });
    case 'folder': {
      const member = { path: folderOf(nameOf), ref: refOf(name) };
      if (snapshot === 0) return post('/api/folders/members', member);
      return { method: 'DELETE', path: `/api/folders/members?${new URLSearchParams(member)}` };
    }
    case 'migrate':
      return post(`${path}/migrate`, {});
    default:
      return post(`${path}/${action}`);
  }
}
