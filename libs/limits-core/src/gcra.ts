import { closesAt, counted, setCounted } from './slot.js';
import type { WindowTable } from './window-table.js';

/*
 * The generic cell rate algorithm. Its only state is the time at which all events so far will have been worked off, one
 * every `windowMs / limit`. An event moves that time on by its cost; it is refused if the time would then be more than
 * `windowMs` ahead. In a slot, the time is rounded up to a whole millisecond, where a fixed window has its closing
 * time, and the rounded part is where a fixed window counts events. So a slot is free as soon as its key has its whole
 * burst again.
 */

/** Times have a resolution of 1/65,536 ms: 400 days of it are exact in a number. */
export const UNITS_PER_MS = 65_536;

export interface GcraTerms {
  readonly limit: number;
  readonly windowMs: number;
}

/** The time that one event takes, rounded down by less than 0.2 %. */
export const eventUnits = ({ limit, windowMs }: GcraTerms): number => Math.floor((windowMs * UNITS_PER_MS) / limit);

/** How long the events so far will take, in units. */
export const backlogUnits = (slots: Int32Array, at: number, now: number): number =>
  Math.max(0, (closesAt(slots, at) - now) * UNITS_PER_MS - counted(slots, at));

/** Whole milliseconds until a backlog leaves room for an event with this cost; 0 if it does now. */
export function gcraWaitMs(backlog: number, cost: number, terms: GcraTerms): number {
  const excess = backlog - (terms.limit - cost) * eventUnits(terms);
  return excess > 0 ? Math.ceil(excess / UNITS_PER_MS) : 0;
}

/** Writes a backlog of more than 0 to the slot at a table's last position. */
export function setBacklog(table: WindowTable, at: number, backlog: number, now: number): void {
  const ms = Math.ceil(backlog / UNITS_PER_MS);
  setCounted(table.slots, at, ms * UNITS_PER_MS - backlog);
  table.setClosing(at, now + ms);
}
