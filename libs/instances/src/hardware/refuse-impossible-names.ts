import { DomainError, type HardwareChange, type Plan } from '@headgate/domain-contracts';

/** A volume may be preceded by its pool. Names that another program has chosen are more than these. */
const POSSIBLE_NAME = /^[a-z0-9][a-z0-9.-]*(\/[a-z0-9][a-z0-9.-]*)?$/;

/** The device that a change is about, as the caller named it. */
function deviceOf(change: HardwareChange): string | undefined {
  if (change.kind === 'detach-volume' || change.kind === 'expand-volume') return change.volume;
  if (change.kind === 'change-nic' || change.kind === 'remove-nic') return change.nic;
  return change.kind === 'change-medium' ? change.drive : undefined;
}

/**
 * The error for a device that the VM does not have: INVALID_NAME if none can have that name. A name that this service
 * would not choose is only wrong when no device has it, because VMs of other programs have disks with such names.
 */
export function nameError(error: unknown, name: string | undefined): unknown {
  if (name === undefined || POSSIBLE_NAME.test(name) || !DomainError.is(error, 'DEVICE_NOT_FOUND')) return error;
  const rule = 'A name consists of a-z, 0-9, "-" and ".", and begins with a letter or a digit.';
  return new DomainError('INVALID_NAME', `${error.message} ${rule}`, { cause: error });
}

/** Refuses a plan that names no device of the VM with a name that none can have. @throws DomainError INVALID_NAME */
export function refuseImpossibleName<P extends Plan>(plan: P, name: string | undefined): P {
  const missing = plan.refusals.find(({ code }) => code === 'DEVICE_NOT_FOUND');
  const error = missing && new DomainError('DEVICE_NOT_FOUND', missing.reason);
  if (error !== undefined && nameError(error, name) !== error) throw nameError(error, name);
  return plan;
}

/** Calls a backend for a change of a device. @throws DomainError INVALID_NAME in place of DEVICE_NOT_FOUND */
export async function withPossibleName<T>(change: HardwareChange, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw nameError(error, deviceOf(change));
  }
}

/** The same for a plan. */
export const planWithPossibleName = <P extends Plan>(change: HardwareChange, plan: () => Promise<P>): Promise<P> =>
  withPossibleName(change, async () => refuseImpossibleName(await plan(), deviceOf(change)));
