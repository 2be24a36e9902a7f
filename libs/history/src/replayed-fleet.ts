import { formatRef, type InstanceRef } from '@headgate/domain-contracts';
import { applyDelta, type FlatEntry } from './flat-entry.js';
import type { RecordedContext } from './recorded.js';

/** The contexts and the number of entries with which a file begins. */
export interface HeadContent {
  readonly version: 1;
  readonly contexts: readonly RecordedContext[];
  readonly count: number;
}

export interface ResumedContent {
  /** The end of the recording before the gap, in milliseconds since the epoch. */
  readonly since: number;
  readonly records: readonly Row[];
}

/** The number of an entry in its file: those of the beginning come first, then each new one in turn. */
export type EntryNumber = number;
export const REMOVED = 0;
export const DETACHED = 1;

/**
 * A change in a frame. Its time is in milliseconds after the first one of the frame.
 *
 * - A new entry, or the state of a context
 * - The changed fields of an entry, and the names of those that are gone
 * - The end of an entry
 */
export type Row =
  | readonly [time: number, type: '+', entry: Record<string, unknown>]
  | readonly [time: number, type: 'context', state: RecordedContext]
  | readonly [time: number, entry: EntryNumber, set: FlatEntry, unset?: readonly string[]]
  | readonly [time: number, entry: EntryNumber, end: typeof REMOVED | typeof DETACHED];

/** A change of an entry. */
export interface FlatChange {
  readonly type: 'added' | 'changed' | 'removed' | 'detached';
  readonly before?: FlatEntry;
  readonly after?: FlatEntry;
}

/** The fleet while a file is read from its beginning. */
export class ReplayedFleet {
  /** By their numbers. */
  private readonly known: (Record<string, unknown> | undefined)[] = [];
  readonly contexts = new Map<string, RecordedContext>();

  /** The entries with their numbers. */
  *entries(): Generator<readonly [EntryNumber, FlatEntry]> {
    for (const [number, entry] of this.known.entries()) if (entry) yield [number, entry];
  }

  get nextNumber(): EntryNumber {
    return this.known.length;
  }

  /** The entry belongs to the fleet afterwards, which changes it. */
  add(entry: Record<string, unknown>): void {
    this.known.push(entry);
  }

  setContext(state: RecordedContext): void {
    if (state.state === 'detached') this.contexts.delete(state.context);
    else this.contexts.set(state.context, state);
  }

  /**
   * @param isWanted whether a change of this entry is to be returned, which takes copies of it
   * @returns the change, if it is one of an entry, and is wanted
   */
  apply(row: Row, isWanted: (entry: FlatEntry) => boolean): FlatChange | undefined {
    if (row[1] === 'context') {
      this.setContext(row[2]);
      return undefined;
    }
    if (row[1] === '+') {
      this.known.push(row[2]);
      return isWanted(row[2]) ? { type: 'added', after: { ...row[2] } } : undefined;
    }
    const [, number, content] = row;
    const entry = this.known[number];
    if (!entry) return undefined;
    const before = isWanted(entry) ? { ...entry } : undefined;
    if (typeof content === 'number') {
      this.known[number] = undefined;
      return before && { type: content === DETACHED ? 'detached' : 'removed', before };
    }
    applyDelta(entry, content, row[3]);
    return before && { type: 'changed', before, after: { ...entry } };
  }
}

export const keyOf = (flat: FlatEntry): string => formatRef(flat['ref'] as InstanceRef);
