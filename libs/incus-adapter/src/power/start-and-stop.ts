import { DomainError } from '@headgate/domain-contracts';
import type { IncusApi } from '../api/incus-api.js';
import type { InstanceObject } from '../api/incus-objects.js';
import { changeState, ensureState } from './change-state.js';

/** How long the processes of a container may take to end before they are killed, as in a cluster. */
const GRACE_SECONDS = 10;

export const isFrozen = ({ status }: InstanceObject): boolean => /^(frozen|freezing)$/i.test(status);
export const isStopped = ({ status }: InstanceObject): boolean => /^stopped$/i.test(status);

/** Starts a container, or lets one continue that was paused. */
export const startContainer = (api: IncusApi, instance: InstanceObject): Promise<void> =>
  ensureState(api, instance, isFrozen(instance) ? 'unfreeze' : 'start');

/** Asks the processes of a container to end, and kills those that do not. */
export async function stopContainer(api: IncusApi, instance: InstanceObject): Promise<void> {
  if (isStopped(instance)) return;
  // Processes that are frozen can't end.
  if (isFrozen(instance)) await ensureState(api, instance, 'unfreeze');
  try {
    await ensureState(api, instance, 'stop', { timeoutSeconds: GRACE_SECONDS });
  } catch (error) {
    if (DomainError.is(error, 'INSTANCE_NOT_FOUND', 'BACKEND_UNREACHABLE', 'BACKEND_TIMEOUT', 'NOT_READY')) throw error;
    await ensureState(api, instance, 'stop', { force: true });
  }
}

/** Ends the processes of a container at once. */
export async function killContainer(api: IncusApi, instance: InstanceObject): Promise<void> {
  if (!isStopped(instance)) await changeState(api, instance, 'stop', { force: true }).catch(ignoreStopped);
}

function ignoreStopped(error: unknown): void {
  if (!DomainError.is(error, 'WRONG_STATE', 'INSTANCE_NOT_FOUND')) throw error;
}
