import type { EventObject, KubeObject, ObjectMeta, ObjectStore } from '@headgate/kube-sandbox';
import type { SimulationContext } from '../simulation-context.js';

/** An event about a VM or one of its parts. */
export interface VmEvent {
  /** In milliseconds of the simulated time. */
  readonly at: number;
  readonly namespace: string;
  /** The name of the VM. */
  readonly name: string;
  /** Of the object that it is about: the VM itself, its guest, or a part of it such as a pod. */
  readonly kind: string;
  readonly isWarning: boolean;
  readonly reason: string;
  readonly message: string;
}

/** More owners above each other don't lead to a VM. */
const MAX_OWNERS = 5;

/** Reports new events about VMs until the returned function is called. A repeated event is reported once. */
export function followVmEvents({ store, clock }: SimulationContext, listener: (event: VmEvent) => void): () => void {
  return store.subscribe('events', ({ type, object }) => {
    if (type !== 'ADDED') return;
    const { involvedObject, reason, message, type: severity } = object as EventObject;
    const subject = involvedObject.uid === undefined ? undefined : store.findByUid(involvedObject.uid)?.object;
    const vm = subject && vmOf(store, subject);
    const { kind } = involvedObject;
    if (vm) listener({ ...vm, kind, at: clock.now(), isWarning: severity === 'Warning', reason, message });
  });
}

function vmOf(store: ObjectStore, subject: KubeObject): { namespace: string; name: string } | undefined {
  let object: KubeObject | undefined = subject;
  for (let owners = 0; object && owners < MAX_OWNERS; owners++) {
    const { namespace = '', name, ownerReferences = [] }: ObjectMeta = object.metadata;
    if (object.kind === 'VirtualMachine' || object.kind === 'VirtualMachineInstance') return { namespace, name };
    const { vmiName } = (object as { spec?: { vmiName?: unknown } }).spec ?? {};
    if (typeof vmiName === 'string') return { namespace, name: vmiName };
    object = ownerReferences[0] && store.findByUid(ownerReferences[0].uid)?.object;
  }
  return undefined;
}
