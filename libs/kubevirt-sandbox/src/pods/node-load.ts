import { quantityValue } from '../quantity.js';
import type { Node, Pod } from '../types/core-kinds.js';

/** The resources that a pod requests. */
export interface PodRequests {
  cpu: number;
  memory: number;
  /** Hugepages, and devices by the names of their resources. */
  extended?: Readonly<Record<string, number>>;
}

const isExtended = (resource: string): boolean =>
  resource.startsWith('hugepages-') || (resource.includes('/') && !resource.startsWith('devices.kubevirt.io/'));

export function podRequests({ spec }: Pod): PodRequests {
  const sum = (resource: string): number =>
    spec.containers.reduce((total, { resources }) => {
      const asked = resources?.requests?.[resource] ?? resources?.limits?.[resource];
      return total + (asked === undefined ? 0 : quantityValue(asked) || 0);
    }, 0);
  const names = spec.containers.flatMap(({ resources }) =>
    Object.keys({ ...resources?.requests, ...resources?.limits }).filter(isExtended),
  );
  const extended = Object.fromEntries(names.map((name) => [name, sum(name)]));
  return { cpu: sum('cpu'), memory: sum('memory'), ...(names.length > 0 && { extended }) };
}

const isOver = ({ status }: Pod): boolean => ['Succeeded', 'Failed'].includes(status?.phase ?? '');

/** Whether a change of a pod makes room on its node. */
export const freesNode = (before: Pod | undefined, after: Pod | undefined): boolean =>
  before !== undefined && !isOver(before) && (after === undefined || isOver(after));

interface NodeLoad extends PodRequests {
  pods: number;
}

/** The load of each node, updated with every change of a pod. */
export class NodeLoads {
  private readonly loads = new Map<string, NodeLoad>();

  note(before: Pod | undefined, after: Pod | undefined): void {
    const was = before && !isOver(before) ? before.spec.nodeName : undefined;
    const is = after && !isOver(after) ? after.spec.nodeName : undefined;
    if (was === is) return;
    if (was) this.add(was, before!, -1);
    if (is) this.add(is, after!, 1);
  }

  /** Counts a pod that is loaded at rest, before it is built. */
  addAtRest(node: string, requests: PodRequests): void {
    this.addRequests(node, requests, 1);
  }

  pods(node: string): number {
    return this.loads.get(node)?.pods ?? 0;
  }

  /** The pod's requests that exceed the node; empty when the pod fits. */
  shortages({ metadata, status }: Node, { cpu, memory, extended = {} }: PodRequests): string[] {
    const load: NodeLoad = this.loads.get(metadata.name) ?? { cpu: 0, memory: 0, pods: 0 };
    const allocatable = status?.allocatable ?? {};
    const short: string[] = [];
    if (load.cpu + cpu > quantityValue(allocatable.cpu ?? '0')) short.push('Insufficient cpu');
    if (load.memory + memory > quantityValue(allocatable.memory ?? '0')) short.push('Insufficient memory');
    if (load.pods + 1 > quantityValue(allocatable.pods ?? '110')) short.push('Too many pods');
    for (const [name, amount] of Object.entries(extended)) {
      const used = load.extended?.[name] ?? 0;
      if (used + amount > quantityValue(allocatable[name] ?? '0')) short.push(`Insufficient ${name}`);
    }
    return short;
  }

  private add(node: string, pod: Pod, sign: 1 | -1): void {
    this.addRequests(node, podRequests(pod), sign);
  }

  private addRequests(node: string, { cpu, memory, extended }: PodRequests, sign: 1 | -1): void {
    const load: NodeLoad = this.loads.get(node) ?? { cpu: 0, memory: 0, pods: 0 };
    const others = { ...load.extended };
    for (const [name, amount] of Object.entries(extended ?? {})) others[name] = (others[name] ?? 0) + sign * amount;
    this.loads.set(node, {
      cpu: load.cpu + sign * cpu,
      memory: load.memory + sign * memory,
      pods: load.pods + sign,
      ...((load.extended ?? extended) && { extended: others }),
    });
  }
}
