import type { AmountField, Flag, TextField } from './fields.js';

/** A parsed query. An entry must match every term. */
export interface Query {
  readonly terms: readonly Term[];
}

export type Term = WordTerm | TextTerm | AmountTerm | FlagTerm;

interface Negatable {
  /** Whether entries that match the rest of the term are left out instead. */
  readonly negated: boolean;
}

/** A text that occurs anywhere in the searched text of an entry. */
export interface WordTerm extends Negatable {
  readonly type: 'word';
  readonly text: string;
}

/** A field with one of the values. */
export interface TextTerm extends Negatable {
  readonly type: 'text';
  readonly field: TextField;
  /** Texts with the wildcard `*`; the empty one matches an entry without any value. */
  readonly patterns: readonly string[];
}

export const OPERATORS = ['>=', '<=', '>', '<', ':', '='] as const;
export type Operator = (typeof OPERATORS)[number];

/** A field that is compared with an amount, or equals one of several. */
export interface AmountTerm extends Negatable {
  readonly type: 'amount';
  readonly field: AmountField;
  readonly operator: Exclude<Operator, '='>;
  readonly amounts: readonly Amount[];
}

/** An amount in the unit of its field. A day is a range, any other amount begins and ends at the same number. */
export interface Amount {
  /** As the user wrote it. */
  readonly text: string;
  readonly first: number;
  readonly last: number;
}

/** An entry with one of the flags. */
export interface FlagTerm extends Negatable {
  readonly type: 'flag';
  readonly flags: readonly Flag[];
}

export const EMPTY_QUERY: Query = { terms: [] };

/** The most characters of a query. */
export const MAX_QUERY_CHARS = 2048;
/** The most terms of a query. */
export const MAX_QUERY_TERMS = 200;
