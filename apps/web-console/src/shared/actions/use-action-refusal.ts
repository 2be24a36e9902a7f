import { useCallback } from 'react';
import type { Instance } from '../instances/instance.js';
import { contextNamed, useCapabilities } from '../queries/use-capabilities.js';
import { useWhoami } from '../queries/use-whoami.js';
import type { ActionId } from './action.js';
import { actionRefusal } from './registry.js';

export type ActionRefusal = (action: ActionId, instance: Instance) => string | undefined;

/**
 * Returns a function that explains why an action is unavailable for an instance. It is the same function until the
 * capabilities or the user change.
 */
export function useActionRefusal(): ActionRefusal {
  const { data: capabilities } = useCapabilities();
  const { data: whoami } = useWhoami();
  return useCallback(
    (action, instance) =>
      actionRefusal(action, instance, { context: contextNamed(capabilities, instance.context), whoami }),
    [capabilities, whoami],
  );
}
