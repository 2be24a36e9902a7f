/** The faults that can be injected. */
export type Fault =
  /** No node fits the launcher pod. */
  | 'unschedulable'
  /** An import never succeeds and keeps retrying. */
  | 'import-unreachable'
  /** An import ends in the phase Failed. */
  | 'import-fatal'
  /** The upload server of a DataVolume does not start. */
  | 'upload-not-ready'
  | 'migration-failure'
  /** A migration that keeps copying. */
  | 'migration-stuck'
  /** The guest dies before it runs. */
  | 'crash-loop'
  /** The guest hangs while it boots: without an agent, and without a login prompt. */
  | 'boot-hang'
  /** The guest powers off while it boots. */
  | 'boot-power-off'
  /** The guest crashes while it boots. */
  | 'boot-crash'
  /** The guest ignores a request to power off. */
  | 'ignores-power-button'
  /** The guest agent does not answer, although the image has one. */
  | 'agent-gone'
  /** Images of this pod can't be pulled. */
  | 'image-pull'
  /** The API server can't reach the kubelet of this pod or this node. */
  | 'kubelet-unreachable'
  /** The container of a Job's pod prints its lines and does not end. */
  | 'container-hangs'
  /** The container of a Job's pod ends with an error. */
  | 'container-fails'
  | 'snapshot-failure';

/** Lets clients set faults without access to the process: a comma-separated list in this annotation. */
export const FAULT_ANNOTATION = 'sandbox.headgate.dev/faults';

type Target = { namespace?: string; name: string };

/** Faults by object, set by tests. */
export class Faults {
  private readonly injected = new Map<string, Set<Fault>>();
  private readonly listeners = new Set<(target: Target) => void>();

  inject(fault: Fault, target: Target): void {
    const id = idOf(target);
    this.injected.set(id, new Set([...(this.injected.get(id) ?? []), fault]));
    this.notify(target);
  }

  clear(fault: Fault, target: Target): void {
    this.injected.get(idOf(target))?.delete(fault);
    this.notify(target);
  }

  /** Called when the faults of an object change, so that its controllers reconcile it. */
  onChange(listener: (target: Target) => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  /** Whether a test has set the fault on the object with this name. */
  isInjected(fault: Fault, target: Target): boolean {
    return this.injected.get(idOf(target))?.has(fault) === true;
  }

  private notify(target: Target): void {
    for (const listener of this.listeners) listener(target);
  }
}

const idOf = ({ namespace = '', name }: Target): string => `${namespace}/${name}`;
