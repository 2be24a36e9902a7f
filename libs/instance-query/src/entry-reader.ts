import type { AmountField, Flag, TextField } from './fields.js';

/** Reads the fields of an entry, in whatever form the user of this library has it. */
export interface EntryReader<E> {
  /** The text that words are searched in, in lower case. */
  readonly words: (entry: E) => string;
  /** The values of a field; none where the entry lacks it. */
  readonly texts: Readonly<Record<TextField, (entry: E) => readonly string[]>>;
  /** CPUs, bytes, or milliseconds since the epoch; undefined where the entry lacks it. */
  readonly amounts: Readonly<Record<AmountField, (entry: E) => number | undefined>>;
  readonly flags: Readonly<Record<Flag, (entry: E) => boolean>>;
}

export type Predicate<E> = (entry: E) => boolean;
