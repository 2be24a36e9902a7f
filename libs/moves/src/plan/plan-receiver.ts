import {
  REHEARSAL_ID,
  matchesNameRule,
  UnavailableAbility,
  type PortableVm,
  type ResourceMapping,
} from '@headgate/domain-contracts';
import type { ChosenDestination } from './choose-destination.js';
import { receivingProblem } from './list-destinations.js';
import type { Concerns } from './move-plan.js';

/** Whether the destination can receive instances of that kind, and one of that name. */
export async function checkReceiver({ backend, ref }: ChosenDestination, concerns: Concerns): Promise<void> {
  const problem = await receivingProblem(backend, ref.kind);
  if (problem !== undefined)
    concerns.refuse(
      'destination',
      'DESTINATION_CANNOT_RECEIVE',
      `${backend.context} can't receive ${ref.kind === 'vm' ? 'VMs' : 'containers'}: ${problem}`,
      `Choose another destination: GET /api/move/destinations${ref.kind === 'vm' ? '' : '?kind=ct'} lists them.`,
    );
  const { instanceNames } = backend.traits;
  if (!matchesNameRule(instanceNames, ref.name))
    concerns.refuse(
      'request',
      'INVALID_NAME',
      `name must ${instanceNames.description} on ${backend.context}.`,
      'Set name to another name.',
    );
}

/** @returns undefined when the destination can't plan the copy, with the reason in the concerns */
export async function planReceiver(
  { chosen: { backend, ref }, vm, mapping }: { chosen: ChosenDestination; vm: PortableVm; mapping: ResourceMapping },
  concerns: Concerns,
) {
  const ingest = backend.ability('diskIngest');
  if (ingest instanceof UnavailableAbility) return undefined;
  try {
    const planned = await ingest.plan({ id: REHEARSAL_ID, ref, vm, mapping });
    const { steps, warnings, refusals, losses, format, availableBytes, firmwareVariables } = planned;
    const known = new Set(concerns.refusals.map(({ code }) => code));
    concerns.addRefusals(
      'destination',
      refusals.filter(({ code }) => code !== 'INVALID_NAME' || !known.has(code)),
    );
    concerns.warn(...warnings);
    if (vm.nics.some(({ mac }) => mac !== ''))
      concerns.warn('The copy has the MAC addresses of the source: do not run both on one network.');
    return { steps, losses, format, availableBytes, firmwareVariables };
  } catch (error) {
    // An unreachable destination has refused already.
    if (!concerns.refusals.some(({ code }) => code === 'DESTINATION_CANNOT_RECEIVE'))
      concerns.addFailure('destination', error);
    return undefined;
  }
}
