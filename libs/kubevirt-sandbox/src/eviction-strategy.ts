import type { SimulationContext } from './simulation-context.js';
import { isTrue } from './types/condition.js';
import type { VirtualMachineInstance } from './types/virtual-machine-instance.js';

export const EVICTION_STRATEGIES = ['None', 'LiveMigrate', 'LiveMigrateIfPossible', 'External'] as const;

/** The eviction strategy of a VMI; default: that of the cluster. */
export const evictionStrategyOf = (context: SimulationContext, { spec }: VirtualMachineInstance): string =>
  spec.evictionStrategy ?? context.kubevirt?.spec.configuration?.evictionStrategy ?? 'None';

export const isMigratable = ({ status }: VirtualMachineInstance): boolean =>
  isTrue(status?.conditions, 'LiveMigratable');

/** Whether the launcher pod of a VMI must survive an eviction. */
export function isProtected(context: SimulationContext, vmi: VirtualMachineInstance): boolean {
  const strategy = evictionStrategyOf(context, vmi);
  return (
    strategy === 'LiveMigrate' || strategy === 'External' || (strategy === 'LiveMigrateIfPossible' && isMigratable(vmi))
  );
}
