import type { VmView } from '@headgate/api-contracts';
import { contextNamed, useCapabilities } from '../queries/use-capabilities.js';
import { useWhoami } from '../queries/use-whoami.js';
import { actionRefusal, type InstanceAction } from './power-actions.js';

/** Tells for any instance and action why it is not to be had, with what this page knows of the caller and the contexts. */
export function useActionRefusal(): (action: InstanceAction, vm: VmView) => string | undefined {
  const { data: capabilities } = useCapabilities();
  const { data: whoami } = useWhoami();
  return (action, vm) => actionRefusal(action, vm, { context: contextNamed(capabilities, vm.context), whoami });
}
