import type { KubeObject } from '@headgate/kube-sandbox';
import { type Fault, FAULT_ANNOTATION } from './faults.js';
import type { VirtualMachine } from './types/virtual-machine.js';
import type { SimulationContext } from './simulation-context.js';

/** Whether an object or one of its owners has a fault: a VM's faults apply to every object created from it. */
export function suffers(context: SimulationContext, fault: Fault, object: KubeObject): boolean {
  const { faults, store } = context;
  const { namespace, ownerReferences = [] } = object.metadata;
  if (annotatedFaults(object).includes(fault) || faults.isInjected(fault, object.metadata)) return true;
  return ownerReferences.some(({ uid, name, kind }) => {
    // CDI's pods have the faults of their DataVolume only where its controller looks for them.
    if (kind === 'PersistentVolumeClaim') return false;
    const owner = store.findByUid(uid)?.object;
    // While a fleet is being seeded its owners are known by name only.
    return owner ? suffers(context, fault, owner) : faults.isInjected(fault, { namespace, name });
  });
}

/** The faults in the annotation of an object, or of the template of a VM. */
export function annotatedFaults(object: KubeObject): string[] {
  const template = object.kind === 'VirtualMachine' ? (object as VirtualMachine).spec.template.metadata : undefined;
  return [object.metadata.annotations, template?.annotations].flatMap((annotations) =>
    (annotations?.[FAULT_ANNOTATION] ?? '')
      .split(',')
      .map((name) => name.trim())
      .filter((name) => name !== ''),
  );
}
