import { formatRef } from '@headgate/domain-contracts';
import { deltaOf, flatten, unflatten, type FlatEntry } from './flat-entry.js';
import type { FrameContent } from './frames.js';
import type { RecordedContext, RecordedEntry, RecordedEvent, RecordedFleet } from './recorded.js';
import {
  DETACHED,
  REMOVED,
  type EntryNumber,
  type HeadContent,
  type ReplayedFleet,
  type Row,
} from './replayed-fleet.js';
import { Turns } from './turns.js';

/** The fleet at one moment. */
export interface FleetSnapshot {
  readonly entries: readonly RecordedEntry[];
  readonly contexts: readonly RecordedContext[];
}

interface Written {
  readonly number: EntryNumber;
  readonly entry: RecordedEntry;
}

const ENTRIES_PER_FRAME = 500;

/** The fleet at this moment, which later changes leave as it is. */
export const snapshotOf = (fleet: RecordedFleet): FleetSnapshot => ({
  entries: [...fleet.entries()],
  contexts: [...fleet.contexts()],
});

/** The last recorded state of the fleet, with the numbers of the entries in the current segment. */
export class RecordedState {
  private written = new Map<string, Written>();
  private contexts = new Map<string, RecordedContext>();
  private nextNumber: EntryNumber = 0;

  static of(fleet: ReplayedFleet): RecordedState {
    const state = new RecordedState();
    for (const [number, flat] of fleet.entries()) {
      const entry = unflatten(flat);
      state.written.set(formatRef(entry.instance.ref), { number, entry });
    }
    state.nextNumber = fleet.nextNumber;
    state.contexts = new Map(fleet.contexts);
    return state;
  }

  /** The number of entries. */
  get size(): number {
    return this.written.size;
  }

  /**
   * Takes over a change.
   * @param at the time of its rows, in milliseconds after the first one of their frame
   * @returns its rows; none if it changes nothing
   */
  apply(event: RecordedEvent, at: number): readonly Row[] {
    if (event.type === 'status') return this.applyContext(event.state, at);
    const { instance } = event.type === 'changed' ? event.entry : event;
    const key = formatRef(instance.ref);
    const known = this.written.get(key);
    if (event.type === 'removed') return known ? [this.remove(key, known, at, event.isDetached === true)] : [];
    const after = flatten(event.entry);
    if (known?.entry.instance.uid === instance.uid) {
      this.written.set(key, { number: known.number, entry: event.entry });
      const delta = deltaOf(flatten(known.entry), after);
      if (!delta) return [];
      const { set, unset } = delta;
      return [unset.length === 0 ? [at, known.number, set] : [at, known.number, set, unset]];
    }
    // Otherwise, another instance under the same name.
    const removed = known ? [this.remove(key, known, at, false)] : [];
    this.written.set(key, { number: this.nextNumber++, entry: event.entry });
    return [...removed, [at, '+', { ...after }]];
  }

  /** Takes over all that is different now. @returns the rows, all at the same time */
  async applySnapshot(now: FleetSnapshot): Promise<Row[]> {
    const turns = new Turns();
    const rows: Row[] = [];
    const add = (event: RecordedEvent): void => void rows.push(...this.apply(event, 0));
    const present = new Set<string>();
    for (const entry of now.entries) {
      present.add(formatRef(entry.instance.ref));
      add({ type: 'changed', entry });
      await turns.pass();
    }
    const isUp = new Set(now.contexts.filter(({ state }) => state === 'up').map(({ context }) => context));
    for (const [key, { entry }] of [...this.written]) {
      if (present.has(key)) continue;
      // Instances of a context that was not reached may still exist.
      const isDetached = !isUp.has(entry.instance.ref.context);
      add({ type: 'removed', instance: entry.instance, ...(isDetached && { isDetached }) });
      await turns.pass();
    }
    const states = new Map(now.contexts.map((state) => [state.context, state]));
    for (const state of this.contexts.values())
      if (!states.has(state.context)) states.set(state.context, { ...state, state: 'detached' });
    for (const state of states.values()) add({ type: 'status', state });
    return rows;
  }

  /** The frames with which a segment begins: the whole fleet, whose entries get new numbers. */
  async *beginning(time: number): AsyncGenerator<FrameContent> {
    const known = [...this.written];
    const frame = { first: time, last: time };
    const head: HeadContent = { version: 1, contexts: [...this.contexts.values()], count: known.length };
    yield { ...frame, kind: 'head', json: JSON.stringify(head) };
    const turns = new Turns();
    for (let from = 0; from < known.length; from += ENTRIES_PER_FRAME) {
      const flat: FlatEntry[] = known.slice(from, from + ENTRIES_PER_FRAME).map(([, { entry }]) => flatten(entry));
      yield { ...frame, kind: 'entries', json: JSON.stringify(flat) };
      await turns.pass();
    }
    this.written = new Map(known.map(([key, { entry }], number) => [key, { number, entry }]));
    this.nextNumber = known.length;
  }

  private remove(key: string, { number }: Written, at: number, isDetached: boolean): Row {
    this.written.delete(key);
    return [at, number, isDetached ? DETACHED : REMOVED];
  }

  private applyContext(state: RecordedContext, at: number): Row[] {
    const known = this.contexts.get(state.context);
    if (known?.state === state.state && known.reason === state.reason) return [];
    if (state.state === 'detached') this.contexts.delete(state.context);
    else this.contexts.set(state.context, state);
    return [[at, 'context', state]];
  }
}
