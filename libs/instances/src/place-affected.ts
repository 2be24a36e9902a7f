import type { AffectedInstance, ClusterNode, FailureOutcome } from '@headgate/domain-contracts';

/** Resources that are promised to instances of a node. */
export interface PromisedResources {
  readonly virtualCpus: number;
  /** Of containers, which get whole CPUs. */
  readonly cpus: number;
  readonly memoryBytes: number;
}

/** What becomes of one instance of a failed node. */
export interface PlacedInstance {
  readonly instance: AffectedInstance;
  readonly outcome: FailureOutcome;
  /** The nodes with room for it when its turn came, sorted. */
  readonly nodes: readonly string[];
  /** The one of them with the most free memory then; empty if there is none. */
  readonly likely: string;
  /** Why it does not restart, one sentence; empty if it does. */
  readonly reason: string;
}

export interface Placement {
  readonly cpusPerCpu: number;
  readonly nodes: readonly ClusterNode[];
  readonly promised: ReadonlyMap<string, PromisedResources>;
}

/**
 * Finds room for the instances of a failed node on its other nodes: the largest first, each on the node with the most
 * free memory. The order of a real scheduler differs, so that the outcome is an estimate when room is scarce.
 */
export function placeAffected(
  instances: readonly AffectedInstance[],
  { cpusPerCpu, nodes, promised }: Placement,
): PlacedInstance[] {
  const free = new Map(nodes.flatMap((node) => freeOf(node, promised.get(node.name), cpusPerCpu)));
  const bySize = [...instances].sort((a, b) => b.memoryBytes - a.memoryBytes || compare(a.ref.name, b.ref.name));
  return bySize.map((instance) => {
    if (instance.staysDown !== '')
      return { instance, outcome: 'stays-down', nodes: [], likely: '', reason: instance.staysDown };
    const fitting = instance.candidates.filter((name) => fits(instance, free.get(name))).sort(compare);
    const [likely = ''] = [...fitting].sort((a, b) => free.get(b)!.memoryBytes - free.get(a)!.memoryBytes);
    const chosen = free.get(likely);
    if (!chosen) return { instance, outcome: 'no-room', nodes: [], likely, reason: noRoom(instance) };
    chosen.memoryBytes -= instance.memoryBytes;
    chosen.virtualCpus -= instance.cpu;
    return { instance, outcome: 'restarts', nodes: fitting, likely, reason: '' };
  });
}

interface FreeResources {
  virtualCpus: number;
  memoryBytes: number;
}

/** Nothing is assumed about a node whose resources are unknown. */
function freeOf(
  { name, allocatable: { cpuMillicores, memoryBytes } }: ClusterNode,
  promised: PromisedResources = { virtualCpus: 0, cpus: 0, memoryBytes: 0 },
  cpusPerCpu: number,
): [string, FreeResources][] {
  if (cpuMillicores === null || memoryBytes === null) return [];
  const virtualCpus = (cpuMillicores / 1000 - promised.cpus) * cpusPerCpu - promised.virtualCpus;
  return [[name, { virtualCpus, memoryBytes: memoryBytes - promised.memoryBytes }]];
}

const fits = ({ cpu, memoryBytes }: AffectedInstance, free: FreeResources | undefined): boolean =>
  free !== undefined && free.memoryBytes >= memoryBytes && free.virtualCpus >= cpu;

const noRoom = ({ candidates }: AffectedInstance): string =>
  candidates.length === 0
    ? 'No other node may run it.'
    : `No node that may run it has room: ${candidates.slice(0, MOST_NAMED).join(', ')}${candidates.length > MOST_NAMED ? ' and more' : ''}.`;

const MOST_NAMED = 3;

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
