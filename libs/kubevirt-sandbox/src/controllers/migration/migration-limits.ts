import { isMigrating } from '../../machines/printable-status.js';
import { RESOURCES } from '../../resources.js';
import type { VirtualMachineInstance } from '../../types/virtual-machine-instance.js';
import type { Migration } from '../../types/kubevirt-kinds.js';
import type { SimulationContext } from '../../simulation-context.js';

const PER_CLUSTER = 5;
const OUTBOUND_PER_NODE = 2;
const WAITING = ['', 'Pending'];

const isActive = ({ status }: Migration): boolean =>
  !WAITING.includes(status?.phase ?? '') && !['Succeeded', 'Failed'].includes(status?.phase ?? '');

/** Whether another migration may start now; others wait in Pending. */
export function mayBegin(context: SimulationContext, vmi: VirtualMachineInstance): boolean {
  const configured = context.kubevirt?.spec.configuration?.migrations;
  const active = context.store.list<Migration>(RESOURCES.migration, { where: isActive });
  if (active.length >= (configured?.parallelMigrationsPerCluster ?? PER_CLUSTER)) return false;
  const outbound = active.filter(({ metadata, spec }) => {
    const other = context.find<VirtualMachineInstance>(RESOURCES.vmi, metadata.namespace, spec.vmiName);
    return other && other.status?.nodeName === vmi.status?.nodeName && !isMigrating(vmi);
  });
  return outbound.length < (configured?.parallelOutboundMigrationsPerNode ?? OUTBOUND_PER_NODE);
}
