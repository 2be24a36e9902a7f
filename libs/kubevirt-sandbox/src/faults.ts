/** What can be made to go wrong. */
export type Fault =
  /** No node takes the launcher pod. */
  | 'unschedulable'
  /** An import never succeeds and goes on trying. */
  | 'import-unreachable'
  /** An import ends in phase Failed. */
  | 'import-fatal'
  | 'migration-failure'
  /** A migration that copies and copies. */
  | 'migration-stuck'
  /** The guest dies before it runs. */
  | 'crash-loop'
  /** The guest does not react to a request to power off. */
  | 'ignores-power-button'
  /** The guest agent does not answer, though the image has one. */
  | 'agent-gone'
  /** Images of this pod can't be pulled. */
  | 'image-pull'
  | 'snapshot-failure';

/** With this annotation a client sets faults without reaching into the process: a comma-separated list. */
export const FAULT_ANNOTATION = 'sandbox.headgate.dev/faults';

type Target = { namespace?: string; name: string };

/** Faults by object, set by a test. */
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

  /** Tells when the faults of an object change, so that its controllers look again. */
  onChange(listener: (target: Target) => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  /** Whether a test has set the fault on the object of this name. */
  isInjected(fault: Fault, target: Target): boolean {
    return this.injected.get(idOf(target))?.has(fault) === true;
  }

  private notify(target: Target): void {
    for (const listener of this.listeners) listener(target);
  }
}

const idOf = ({ namespace = '', name }: Target): string => `${namespace}/${name}`;
