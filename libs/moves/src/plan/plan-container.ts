import {
  formatBytes,
  UnavailableAbility,
  REHEARSAL_ID,
  type BackendDirectory,
  type Container,
  type ContainerReading,
  type ContainerTransfer,
  type Loss,
  type PlanStep,
  type ResourceMapping,
} from '@headgate/domain-contracts';
import type { ChosenDestination } from './choose-destination.js';
import type { Concerns } from './move-plan.js';
import type { MoveRequest } from './move-request.js';

export interface ContainerPlan {
  readonly steps: readonly PlanStep[];
  readonly losses: readonly Loss[];
  readonly estimatedBytes: number;
  readonly availableBytes?: number;
}

interface Planned {
  readonly source: Container;
  readonly chosen: ChosenDestination | undefined;
  readonly request: MoveRequest & { readonly mapping: ResourceMapping };
  readonly backends: BackendDirectory;
}

/**
 * The preflight of the move of a container.
 * @returns undefined when it can't be read, with the reason in the concerns
 */
export async function planContainer(planned: Planned, concerns: Concerns): Promise<ContainerPlan | undefined> {
  const { source, chosen, request, backends } = planned;
  const sender = checkContainer(planned, concerns);
  if (!sender) return undefined;
  if (request.deleteSource) await checkDeletion(source, backends, concerns);
  const reading = await attempt('source', concerns, () => sender.describe(source.ref));
  if (!reading) return undefined;
  concerns.addRefusals('source', reading.refusals);
  concerns.warn(...reading.warnings);
  const received = chosen && !chosen.isSamePlace ? await planReceiver(planned, reading, chosen, concerns) : undefined;
  const estimatedBytes = reading.container.usedBytes ?? 0;
  const availableBytes = received?.availableBytes;
  return {
    steps: chosen && received ? stepsOf(planned, chosen, estimatedBytes, received.steps) : [],
    losses: [...reading.losses, ...(received?.losses ?? [])],
    estimatedBytes,
    ...(availableBytes !== undefined && { availableBytes }),
  };
}

/** @returns undefined when no container of its context can be moved */
function checkContainer({ source, request, backends }: Planned, concerns: Concerns): ContainerTransfer | undefined {
  const { ref, phase } = source;
  const ability = backends
    .all()
    .find(({ context }) => context === ref.context)
    ?.abilityFor('ct', 'containerTransfer');
  if (!ability || ability instanceof UnavailableAbility) {
    concerns.refuse(
      'source',
      'CONTAINER_NOT_MOVABLE',
      `${ref.name} is a container: ${ability?.reason ?? `there is no context ${ref.context}.`}`,
      'Create the container at the destination, and copy its data with its own tools.',
    );
    return undefined;
  }
  const { mode = 'cold' } = request;
  if (mode !== 'cold')
    concerns.refuse('request', 'MODE_NOT_SUPPORTED', `mode: a container is stopped while it is copied.`, 'Use cold.');
  if (phase !== 'Running' && phase !== 'Stopped')
    concerns.refuse(
      'source',
      'WRONG_STATE',
      `${ref.name} is ${phase}.`,
      'Start it or stop it, and wait until it is running or stopped.',
    );
  return ability;
}

/** A source that may not be deleted refuses the move before anything is copied. */
async function checkDeletion({ ref }: Container, backends: BackendDirectory, concerns: Concerns): Promise<void> {
  const plan = await attempt('source', concerns, () => backends.get(ref.context).require('containers').planDelete(ref));
  for (const { reason } of plan?.refusals ?? [])
    concerns.refuse('source', 'SOURCE_IS_PROTECTED', reason, 'Omit deleteSource, or remove the protection first.');
}

async function planReceiver(
  { request: { mapping } }: Planned,
  { container }: ContainerReading,
  { backend, ref }: ChosenDestination,
  concerns: Concerns,
) {
  const receiver = backend.abilityFor('ct', 'containerTransfer');
  // checkReceiver has refused it.
  if (receiver instanceof UnavailableAbility || concerns.has('DESTINATION_CANNOT_RECEIVE')) return undefined;
  const plan = await attempt('destination', concerns, () =>
    receiver.plan({ id: REHEARSAL_ID, ref, container, mapping }),
  );
  if (!plan) return undefined;
  concerns.addRefusals(
    'destination',
    plan.refusals.filter(({ code }) => code !== 'INVALID_NAME' || !concerns.has(code)),
  );
  concerns.warn(...plan.warnings, 'The copy has the MAC addresses of the source: do not run both on one network.');
  return plan;
}

async function attempt<T>(
  category: 'source' | 'destination',
  concerns: Concerns,
  work: () => Promise<T>,
): Promise<T | undefined> {
  try {
    return await work();
  } catch (error) {
    concerns.addFailure(category, error);
    return undefined;
  }
}

function stepsOf(
  { source: { ref, phase }, request: { deleteSource } }: Planned,
  chosen: ChosenDestination,
  bytes: number,
  receiving: readonly PlanStep[],
): PlanStep[] {
  const isRunning = phase === 'Running';
  const size = bytes === 0 ? '' : `, ${formatBytes(bytes)}`;
  const { name, context } = chosen.ref;
  return [
    ...(isRunning ? [{ name: 'stop', detail: `Stop ${ref.name}.` }] : []),
    { name: 'copy', detail: `Copy the file systems of ${ref.name} with their snapshots${size}.` },
    ...receiving.map((step) => ({ ...step, reportedAs: ['copy'] })),
    { name: 'verify', detail: 'Compare the files of both ends.' },
    { name: 'commit', detail: `Complete ${name} in ${context}, stopped.` },
    { name: 'folder', detail: 'Put it into the folder of the source, if that has one.' },
    ...(isRunning ? [{ name: 'start', detail: `Start ${name} in ${context}.` }] : []),
    deleteSource
      ? { name: 'delete', detail: `Delete ${ref.name} in ${ref.context} with its data volume.` }
      : { name: 'keep', detail: `Keep ${ref.name} in ${ref.context}, stopped.` },
  ];
}
