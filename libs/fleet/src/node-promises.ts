import { isRunningStatus, isVm, type Instance } from '@headgate/domain-contracts';
import type { FleetEntry } from './fleet-entry.js';

/** The sizes of the instances that run on a node. A guest may use less, or be squeezed into less. */
export interface NodePromise {
  /** Of VMs. */
  readonly virtualCpus: number;
  /** Of containers. */
  readonly cpus: number;
  readonly memoryBytes: number;
  readonly instances: number;
}

export const NO_PROMISE: NodePromise = { virtualCpus: 0, cpus: 0, memoryBytes: 0, instances: 0 };

/** The promises of each node of a context, by its name. Nodes without a running instance are not in it. */
export function nodePromises(context: string, entries: Iterable<FleetEntry>): ReadonlyMap<string, NodePromise> {
  const promises = new Map<string, NodePromise>();
  for (const { instance } of entries) {
    const { node } = instance;
    if (instance.ref.context !== context || node === undefined || !occupies(instance)) continue;
    const { virtualCpus, cpus, memoryBytes, instances } = promises.get(node) ?? NO_PROMISE;
    promises.set(node, {
      virtualCpus: virtualCpus + (isVm(instance) ? instance.cpu : 0),
      cpus: cpus + (isVm(instance) ? 0 : instance.cpu),
      memoryBytes: memoryBytes + instance.memoryBytes,
      instances: instances + 1,
    });
  }
  return promises;
}

const occupies = (instance: Instance): boolean =>
  isVm(instance) ? isRunningStatus(instance.status) || instance.status === 'Starting' : instance.phase === 'Running';
