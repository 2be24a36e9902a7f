import type { VmView } from '@headgate/api-contracts';
import { bytesOf } from '../../shared/quantity/quantity.js';

/** The resources assigned to the VMs of a node. */
export interface NodeLoad {
  readonly guests: number;
  readonly cpus: number;
  readonly bytes: number;
}

export const NO_LOAD: NodeLoad = { guests: 0, cpus: 0, bytes: 0 };

/** Nodes of two contexts may have the same name. */
export const nodeKey = ({ context, node }: { context: string; node?: string | undefined }): string =>
  `${context}/${node}`;

/** The loads by `nodeKey`, only of nodes with VMs. */
export function nodeLoads(entries: readonly VmView[]): ReadonlyMap<string, NodeLoad> {
  const loads = new Map<string, NodeLoad>();
  for (const vm of entries) {
    if (vm.node === undefined) continue;
    const { guests, cpus, bytes } = loads.get(nodeKey(vm)) ?? NO_LOAD;
    loads.set(nodeKey(vm), { guests: guests + 1, cpus: cpus + vm.cpu, bytes: bytes + (bytesOf(vm.mem) || 0) });
  }
  return loads;
}
