import type { CapReservation } from './cap.js';

interface SameThing {
  writers: number;
  written: boolean;
}

/** One holder under one cap: what it holds, and what writes under way may add. */
export class CapHolder {
  held: number;
  #inFlight = 0;
  /** Writes under way that are about one new thing: they take one place together. */
  readonly #things = new Map<string, SameThing>();

  constructor(held: number) {
    this.held = held;
  }

  get taken(): number {
    return this.held + this.#inFlight;
  }

  get idle(): boolean {
    return this.#inFlight === 0;
  }

  /** Undefined: there is no room. Offering nothing always fits. */
  reserve(limit: number, offered: number, id?: string): CapReservation | undefined {
    const same = id === undefined ? undefined : this.#things.get(id);
    if (!same && offered > 0 && this.taken + offered > limit) return undefined;
    if (!same) this.#inFlight += offered;
    if (id === undefined) return settledOnce(offered, (added) => this.#settle(offered, added));
    const thing = same ?? { writers: 0, written: false };
    thing.writers++;
    this.#things.set(id, thing);
    return settledOnce(offered, (added) => this.#settleThing(id, thing, offered, added > 0));
  }

  #settle(offered: number, added: number): void {
    this.#inFlight -= offered;
    this.held += added;
  }

  /** The place that the writers of one thing share is held from the first success, or free after the last failure. */
  #settleThing(id: string, thing: SameThing, offered: number, written: boolean): void {
    thing.writers--;
    thing.written ||= written;
    if (thing.writers > 0) return;
    this.#things.delete(id);
    this.#settle(offered, thing.written ? offered : 0);
  }
}

function settledOnce(offered: number, settle: (added: number) => void): CapReservation {
  let open = true;
  const end = (added: number): void => {
    if (!open) return;
    open = false;
    settle(Math.max(0, Math.min(added, offered)));
  };
  return { granted: true, commit: (added = offered) => end(added), release: () => end(0) };
}
