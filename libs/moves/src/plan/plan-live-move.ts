import {
  UnavailableAbility,
  type BackendDirectory,
  type PlanStep,
  type VirtualMachine,
} from '@headgate/domain-contracts';
import type { ChosenDestination } from './choose-destination.js';
import type { Concerns, DowntimeEstimate } from './move-plan.js';
import type { MoveRequest } from './move-request.js';

export interface LivePlan {
  readonly steps: readonly PlanStep[];
  readonly estimatedBytes: number;
  readonly downtime: DowntimeEstimate;
}

/** The handover of a migration takes less, unless the guest changes its memory faster than the network copies it. */
const HANDOVER_SECONDS = 1;
const OTHER_MODES = 'Use warm, or cold.';

/** The preflight of a live move: that of the migration, and what only a copy of the VM could have. */
export async function planLiveMove(
  {
    source,
    chosen,
    request,
    backends,
  }: {
    readonly source: VirtualMachine;
    readonly chosen: ChosenDestination;
    readonly request: MoveRequest;
    readonly backends: BackendDirectory;
  },
  concerns: Concerns,
): Promise<LivePlan | undefined> {
  const { ref } = source;
  const backend = backends.get(ref.context);
  if (backend.kind !== chosen.backend.kind || backend.traits.isSingleHost !== true) {
    concerns.refuse(
      'request',
      'MODE_NOT_SUPPORTED',
      'mode: live moves are possible only between two contexts of a kind whose contexts are single machines.',
      OTHER_MODES,
    );
    return undefined;
  }
  refuseChanges(source, chosen, request, concerns);
  if (chosen.isSamePlace) return undefined;
  const migration = backend.ability('migration');
  if (migration instanceof UnavailableAbility) {
    concerns.refuse('source', 'MODE_NOT_SUPPORTED', `mode: ${migration.reason}`, OTHER_MODES);
    return undefined;
  }
  const { steps, warnings, refusals } = await migration.plan(ref, chosen.ref.context);
  concerns.addRefusals('destination', refusals);
  concerns.warn(...warnings);
  const follow = { name: 'folder', detail: 'Keep it in its folder, if it is in one.' };
  return {
    steps: [...steps, follow],
    estimatedBytes: source.memoryBytes + source.diskBytes,
    downtime: { seconds: HANDOVER_SECONDS, minSeconds: 0, maxSeconds: HANDOVER_SECONDS },
  };
}

/** A migration moves the VM itself: it can't become another one on the way. */
function refuseChanges(
  { ref }: VirtualMachine,
  chosen: ChosenDestination,
  { deleteSource = false, mapping }: MoveRequest,
  concerns: Concerns,
): void {
  if (!deleteSource)
    concerns.refuse(
      'request',
      'SOURCE_NOT_KEPT',
      `deleteSource: a live move takes ${ref.name} away from ${ref.context}, because its guest runs in one place only.`,
      'Set deleteSource, or use warm or cold to keep the source.',
    );
  if (chosen.ref.name !== ref.name)
    concerns.refuse('request', 'INVALID_NAME', `name: ${ref.name} keeps its name in a live move.`, 'Omit name.');
  const mapped = [mapping?.networks, mapping?.storageClasses].some((names) => Object.keys(names ?? {}).length > 0);
  if (mapped)
    concerns.refuse(
      'request',
      'INVALID_INPUT',
      `mapping: ${ref.name} keeps its networks and its volumes in a live move.`,
      'Omit mapping, or use warm or cold.',
    );
}
