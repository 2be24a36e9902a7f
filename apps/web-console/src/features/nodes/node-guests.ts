import type { VmView } from '@headgate/api-contracts';
import type { Instance } from '../../shared/instances/instance.js';
import { isVm, statusOf } from '../../shared/instances/instance.js';
import { bytesOf } from '../../shared/quantity/quantity.js';

/** An instance on a node. */
export interface NodeGuest {
  readonly instance: Instance;
  readonly bytes: number;
}

/** Nodes of two contexts may have the same name. */
export const nodeKey = ({ context, node }: { context: string; node?: string | undefined }): string =>
  `${context}/${node}`;

/** The running VMs and containers by `nodeKey`, the largest first, only of nodes with some. */
export function nodeGuests(entries: readonly Instance[]): ReadonlyMap<string, readonly NodeGuest[]> {
  const guests = new Map<string, NodeGuest[]>();
  for (const instance of entries) {
    if (!instance.node || (!isVm(instance) && statusOf(instance) !== 'Running')) continue;
    const guest = { instance, bytes: bytesOf(instance.mem) || 0 };
    const own = guests.get(nodeKey(instance));
    if (own) own.push(guest);
    else guests.set(nodeKey(instance), [guest]);
  }
  for (const own of guests.values())
    own.sort((a, b) => b.bytes - a.bytes || (a.instance.name < b.instance.name ? -1 : 1));
  return guests;
}

/** Changes when an instance starts, stops, moves or gets another size. */
export const occupancyOf = (guests: ReadonlyMap<string, readonly NodeGuest[]>): string =>
  [...guests]
    .map(([key, own]) => `${key} ${own.length} ${own.reduce((sum, { bytes }) => sum + bytes, 0)}`)
    .sort()
    .join('\n');

/** A VM that can be dragged to another node. */
export type DraggedVm = VmView & { readonly node: string };
