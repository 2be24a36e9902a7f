import { suffers } from '../../inherited-faults.js';
import { isTrue } from '../../types/condition.js';
import type { VirtualMachineInstance } from '../../types/virtual-machine-instance.js';
import type { SimulationContext } from '../../simulation-context.js';

/** How a guest reacts to a request to power off, and after how many milliseconds. */
export interface Shutdown {
  outcome: 'Succeeded' | 'Failed';
  afterMs: number;
}

/** A paused guest, or one that ignores the request, is killed after its grace period. */
export function shutdownOf(context: SimulationContext, vmi: VirtualMachineInstance): Shutdown {
  const graceMs = (vmi.spec.terminationGracePeriodSeconds ?? 30) * 1000 * context.timings.scale;
  const listens = !isTrue(vmi.status?.conditions, 'Paused') && !suffers(context, 'ignores-power-button', vmi);
  const politeMs = context.timings.ms('gracefulShutdown');
  return listens && politeMs <= graceMs
    ? { outcome: 'Succeeded', afterMs: politeMs }
    : { outcome: 'Failed', afterMs: graceMs };
}
