import { useCallback } from 'react';
import type { Instance } from '../instances/instance.js';
import { contextNamed, useCapabilities } from '../queries/use-capabilities.js';
import { useWhoami } from '../queries/use-whoami.js';
import { actionRefusal, type InstanceAction } from './power-actions.js';

export type ActionRefusal = (action: InstanceAction, instance: Instance) => string | undefined;

/**
 * Tells for any instance and action why it is not to be had, with what this page knows of the caller and the contexts. The
 * same function until that changes.
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
