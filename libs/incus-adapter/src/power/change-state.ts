import { DomainError } from '@headgate/domain-contracts';
import type { IncusApi } from '../api/incus-api.js';
import type { InstanceObject } from '../api/incus-objects.js';
import { whenIdle } from '../api/when-idle.js';
import { instancePath } from '../engine/instance-finder.js';

export type StateAction = 'start' | 'stop' | 'restart' | 'freeze' | 'unfreeze';

export interface StateOptions {
  readonly force?: boolean;
  /** How long the processes may take to end. */
  readonly timeoutSeconds?: number;
}

/**
 * Changes the state of an instance, and returns once it has changed.
 * @throws DomainError WRONG_STATE, also when it already has that state
 */
export async function changeState(
  api: IncusApi,
  instance: InstanceObject,
  action: StateAction,
  { force = false, timeoutSeconds }: StateOptions = {},
): Promise<void> {
  const timeout = timeoutSeconds ?? -1;
  await whenIdle(api, instance, () =>
    api.send('PUT', `${instancePath(instance)}/state`, {
      query: { project: instance.project },
      body: { action, force, timeout },
    }),
  );
}

/** The same, and not an error when it already has that state. */
export async function ensureState(
  api: IncusApi,
  instance: InstanceObject,
  action: StateAction,
  options?: StateOptions,
): Promise<void> {
  try {
    await changeState(api, instance, action, options);
  } catch (error) {
    if (!DomainError.is(error, 'WRONG_STATE')) throw error;
  }
}
