import {
  UnavailableAbility,
  type BackendDirectory,
  type PlanStep,
  type VirtualMachine,
} from '@headgate/domain-contracts';
import type { ChosenDestination } from './choose-destination.js';
import type { Concerns } from './move-plan.js';

/** Once a round copies no more than this, the guest is stopped for the rest. */
export const ROUND_GOAL_BYTES = 8 * 1024 ** 2;

const USE_COLD = 'Use cold.';

/** What a warm move needs besides a cold one. */
export async function checkWarmMove(
  {
    source,
    chosen,
    backends,
  }: {
    readonly source: VirtualMachine;
    readonly chosen: ChosenDestination | undefined;
    readonly backends: BackendDirectory;
  },
  concerns: Concerns,
): Promise<void> {
  const { ref, status } = source;
  if (status === 'Stopped')
    concerns.refuse(
      'request',
      'MODE_NOT_SUPPORTED',
      `mode: ${ref.name} is stopped, so that a warm move would be a cold one.`,
      USE_COLD,
    );
  const liveDisks = backends.get(ref.context).ability('liveDisks');
  if (liveDisks instanceof UnavailableAbility)
    concerns.refuse('source', 'MODE_NOT_SUPPORTED', `mode: ${liveDisks.reason}`, USE_COLD);
  else concerns.addRefusals('source', await liveDisks.check(ref));
  const ingest = chosen?.backend.ability('diskIngest');
  if (ingest && !(ingest instanceof UnavailableAbility) && ingest.updateProblem !== undefined)
    concerns.refuse('destination', 'MODE_NOT_SUPPORTED', `mode: ${ingest.updateProblem}`, USE_COLD);
}

/** In place of the steps of a cold move up to the comparison. */
export const warmSteps = (name: string, copied: string): readonly PlanStep[] => [
  { name: 'bulk', detail: `Copy ${copied} of disks, without their zeros, while ${name} runs, and compare them.` },
  { name: 'rounds', detail: `Copy what ${name} has changed meanwhile, until little is left.` },
  { name: 'stop', detail: `Shut down ${name}.` },
  { name: 'rest', detail: 'Copy the last changes.' },
  { name: 'verify', detail: 'Compare all blocks that were copied again.' },
];
