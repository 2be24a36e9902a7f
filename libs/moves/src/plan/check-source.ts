import {
  DomainError,
  UnavailableAbility,
  type Backend,
  type BackendDirectory,
  type InstanceRef,
  type Loss,
  type PortableVm,
  type VirtualMachine,
} from '@headgate/domain-contracts';
import type { Concerns } from './move-plan.js';
import type { MoveRequest } from './move-request.js';

/** Whether the VM may be moved at this moment. */
export async function checkSource(
  instance: VirtualMachine,
  { deleteSource = false, mode }: MoveRequest,
  backends: BackendDirectory,
  concerns: Concerns,
): Promise<void> {
  const { ref, status, isTemplate } = instance;
  const refuse = (code: Parameters<Concerns['refuse']>[1], reason: string, remedy: string): void =>
    concerns.refuse('source', code, reason, remedy);
  if (status === 'Terminating')
    refuse('BUSY', `${ref.name} is being deleted.`, 'Move another VM; this one can no longer be kept.');
  else if (status !== 'Stopped' && status !== 'Running')
    refuse('WRONG_STATE', `${ref.name} is ${status}.`, 'Start it or stop it, and wait until it is running or stopped.');
  if (isTemplate)
    refuse(
      'SOURCE_IS_TEMPLATE',
      `${ref.name} is a template: VMs may be created from it at any time.`,
      'Clone it and move the clone, or unmark it as a template first.',
    );
  // A live move keeps the VM with its protection and, where the backend can, its snapshots.
  if (deleteSource && instance.protected && mode !== 'live')
    refuse(
      'SOURCE_IS_PROTECTED',
      `${ref.name} is protected against deletion.`,
      'Omit deleteSource, or remove the protection first.',
    );
  if (mode !== 'live') await checkSnapshots(ref, backends, concerns);
}

/** A copy would lose its snapshots, so they refuse it. */
export async function checkSnapshots(ref: InstanceRef, backends: BackendDirectory, concerns: Concerns): Promise<void> {
  const snapshots = backendOf(ref, backends)?.ability('snapshots');
  if (!snapshots || snapshots instanceof UnavailableAbility) return;
  try {
    const { length } = await snapshots.list(ref);
    if (length === 0) return;
    concerns.refuse(
      'source',
      'SOURCE_HAS_SNAPSHOTS',
      `${ref.name} has ${length} ${length === 1 ? 'snapshot' : 'snapshots'}, which can't be moved.`,
      'Delete its snapshots first.',
    );
  } catch (error) {
    // A cluster without snapshots has none of this VM either.
    if (!DomainError.is(error, 'NOT_SUPPORTED', 'INSTANCE_NOT_FOUND')) concerns.addFailure('source', error);
  }
}

/**
 * The properties that a copy would have.
 * @returns undefined when they can't be read, with the reason in the concerns
 */
export async function readSource(
  { ref }: VirtualMachine,
  backends: BackendDirectory,
  concerns: Concerns,
): Promise<{ readonly vm: PortableVm; readonly losses: readonly Loss[] } | undefined> {
  const ability = backendOf(ref, backends)?.ability('diskSource');
  if (!ability || ability instanceof UnavailableAbility) {
    concerns.refuse(
      'source',
      'SOURCE_CANNOT_BE_READ',
      ability?.reason ?? `There is no context ${ref.context}.`,
      'Export its disk and import it at the destination.',
    );
    return undefined;
  }
  try {
    const { vm, refusals, warnings, losses } = await ability.describe(ref);
    concerns.addRefusals(
      'source',
      refusals.filter(({ reason }) => !isRepeated(reason, concerns)),
    );
    concerns.warn(...warnings);
    return { vm, losses };
  } catch (error) {
    concerns.addFailure('source', error);
    return undefined;
  }
}

/** Undefined if the context of the instance is not configured any more. */
const backendOf = ({ context }: InstanceRef, backends: BackendDirectory): Backend | undefined =>
  backends.all().find((backend) => backend.context === context);

/** Snapshots are reported once, although the backend finds them as well. */
const isRepeated = (reason: string, { refusals }: Concerns): boolean =>
  reason.includes('snapshots') && refusals.some(({ code }) => code === 'SOURCE_HAS_SNAPSHOTS');
