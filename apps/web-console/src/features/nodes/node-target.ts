import { t } from '@lingui/core/macro';
import type { NodeDetailsView, VmView } from '@headgate/api-contracts';
import { contextNamed, type Capabilities } from '../../shared/queries/use-capabilities.js';
import { bytesOf, readableBytes } from '../../shared/quantity/quantity.js';

/** Whether a node may be the target of a migration, as far as the page knows. The dry run decides. */
export interface NodeTarget {
  /** The name that a migration takes: of the node, or of its context where a context is a single host. */
  readonly target: string;
  /** Why it can't be, a short phrase; undefined if it can. */
  readonly refusal?: string;
}

/** The memory that is neither in the node's own use nor promised, in bytes; null where it is unknown. */
export const freeMemory = ({ allocatable, promised }: NodeDetailsView): number | null =>
  allocatable.memoryBytes === null ? null : allocatable.memoryBytes - (promised.memoryBytes ?? 0);

/** @returns undefined for a node where the VM can never go by a migration, such as its own */
export function targetFor(
  vm: VmView,
  node: NodeDetailsView,
  capabilities: Capabilities | undefined,
): NodeTarget | undefined {
  const own = contextNamed(capabilities, vm.context);
  const isSingleHost = own?.isSingleHost === true;
  const isKind = isSingleHost
    ? node.context !== vm.context && contextNamed(capabilities, node.context)?.backend === own.backend
    : node.context === vm.context && node.name !== vm.node;
  if (!isKind) return undefined;
  const target = isSingleHost ? node.context : node.name;
  if (!node.ready) return { target, refusal: t`not ready` };
  if (!node.schedulable) return { target, refusal: t`takes no new VMs` };
  const free = freeMemory(node);
  if (free !== null && free < bytesOf(vm.mem))
    return { target, refusal: t`only ${readableBytes(Math.max(0, free))} free` };
  return { target };
}
