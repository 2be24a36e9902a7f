import { DomainError, type InstanceRef } from '@headgate/domain-contracts';
import type { MoveEndsDeps } from './move-ends.js';

/** A source that is not listed by then is gone. */
export const LIST_TIMEOUT_MS = 30_000;

/** Waits until the source of a move is listed or known to be gone: instances are listed after the service starts. */
export const untilListed = (deps: MoveEndsDeps, ref: InstanceRef): Promise<void> =>
  deps.directory.waitFor(ref, (found) => found !== undefined || isGone(deps, ref), LIST_TIMEOUT_MS);

/** Whether its context was listed without it. */
function isGone({ directory, backends }: MoveEndsDeps, ref: InstanceRef): boolean {
  try {
    backends.get(ref.context).require('inventory');
    directory.resolve(ref);
    return false;
  } catch (error) {
    return DomainError.is(error, 'INSTANCE_NOT_FOUND');
  }
}
