import { suffers } from '../../inherited-faults.js';
import { isTrue } from '../../types/condition.js';
import type { VirtualMachineInstance } from '../../types/virtual-machine-instance.js';
import type { World } from '../../world.js';

/** How a guest that was asked to power off ends, and after how many milliseconds. */
export interface Shutdown {
  outcome: 'Succeeded' | 'Failed';
  afterMs: number;
}

/** A guest that is held, or that does not listen, is killed when its grace period is over. */
export function shutdownOf(world: World, vmi: VirtualMachineInstance): Shutdown {
  const graceMs = (vmi.spec.terminationGracePeriodSeconds ?? 30) * 1000 * world.timings.scale;
  const listens = !isTrue(vmi.status?.conditions, 'Paused') && !suffers(world, 'ignores-power-button', vmi);
  const politeMs = world.timings.ms('gracefulShutdown');
  return listens && politeMs <= graceMs
    ? { outcome: 'Succeeded', afterMs: politeMs }
    : { outcome: 'Failed', afterMs: graceMs };
}
