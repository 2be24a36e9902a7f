import { isVm, type Instance } from '../instances/instance.js';
import { useContainerByRef, useVmByRef } from './fleet-provider.js';

/** The latest entry of an instance; undefined when it does not exist any more. */
export function useCurrentInstance(instance: Instance): Instance | undefined {
  const vm = useVmByRef(isVm(instance) ? instance.ref : undefined);
  const ct = useContainerByRef(isVm(instance) ? undefined : instance.ref);
  return isVm(instance) ? vm : ct;
}
