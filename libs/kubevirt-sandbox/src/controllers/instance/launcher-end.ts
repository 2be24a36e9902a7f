import { RESOURCES } from '../../resources.js';
import type { Pod } from '../../types/core-kinds.js';
import type { SimulationContext } from '../../simulation-context.js';

/** Ends the launcher pod with its guest: the containers are terminated, and the phase shows the outcome. */
export function endLauncher(context: SimulationContext, pod: Pod, phase: 'Succeeded' | 'Failed'): void {
  const succeeded = phase === 'Succeeded';
  const finishedAt = context.clock.timestamp();
  const terminated = { exitCode: succeeded ? 0 : 1, reason: succeeded ? 'Completed' : 'Error', finishedAt };
  context.store.patch<Pod>(RESOURCES.pod, pod.metadata, ({ status = {} }) => {
    if (status.phase !== 'Running') return;
    status.phase = phase;
    for (const container of status.containerStatuses ?? []) {
      container.ready = false;
      container.state = { terminated };
    }
  });
}
