import type { EntryReader, Predicate } from './entry-reader.js';
import { matchPattern } from './match-pattern.js';
import type { Amount, AmountTerm, FlagTerm, Query, Term, TextTerm, WordTerm } from './query.js';

/** A predicate that is compiled once and never throws. */
export function compileQuery<E>({ terms }: Query, reader: EntryReader<E>): Predicate<E> {
  const tests = [...terms].sort((a, b) => COSTS[a.type] - COSTS[b.type]).map((term) => compileTerm(term, reader));
  const [only] = tests;
  if (!only) return () => true;
  return tests.length === 1 ? only : (entry) => tests.every((test) => test(entry));
}

/** Cheap terms come first, because one that fails ends the test of an entry. */
const COSTS: Readonly<Record<Term['type'], number>> = { flag: 0, amount: 1, text: 2, word: 3 };

function compileTerm<E>(term: Term, reader: EntryReader<E>): Predicate<E> {
  const test = compilePositive(term, reader);
  return term.negated ? (entry) => !test(entry) : test;
}

function compilePositive<E>(term: Term, reader: EntryReader<E>): Predicate<E> {
  switch (term.type) {
    case 'word':
      return word(term, reader);
    case 'text':
      return text(term, reader);
    case 'amount':
      return amount(term, reader);
    case 'flag':
      return flag(term, reader);
  }
}

function word<E>(term: WordTerm, { words }: EntryReader<E>): Predicate<E> {
  const wanted = term.text.toLowerCase();
  return (entry) => words(entry).includes(wanted);
}

function text<E>({ field, patterns }: TextTerm, { texts }: EntryReader<E>): Predicate<E> {
  const read = texts[field];
  const matches = anyPattern(patterns.flatMap((pattern) => (field === 'folder' ? folderPatterns(pattern) : [pattern])));
  const matchesNone = patterns.includes('');
  return (entry) => {
    const values = read(entry);
    return values.length === 0 ? matchesNone : values.some(matches);
  };
}

/** `web/*` is the folder `web` and everything in it. */
const folderPatterns = (pattern: string): string[] =>
  pattern.length > 2 && pattern.endsWith('/*') ? [pattern, pattern.slice(0, -2)] : [pattern];

function anyPattern(patterns: readonly string[]): (value: string) => boolean {
  const lower = patterns.map((pattern) => pattern.toLowerCase());
  const exact = new Set(lower.filter((pattern) => !pattern.includes('*')));
  const wild = lower.filter((pattern) => pattern.includes('*')).map(matchPattern);
  return (value) => {
    const own = value.toLowerCase();
    return exact.has(own) || wild.some((test) => test(own));
  };
}

const COMPARISONS: Readonly<Record<AmountTerm['operator'], (own: number, amount: Amount) => boolean>> = {
  '>': (own, { last }) => own > last,
  '>=': (own, { first }) => own >= first,
  '<': (own, { first }) => own < first,
  '<=': (own, { last }) => own <= last,
  ':': (own, { first, last }) => own >= first && own <= last,
};

function amount<E>(term: AmountTerm, reader: EntryReader<E>): Predicate<E> {
  const read = reader.amounts[term.field];
  const compare = COMPARISONS[term.operator];
  return (entry) => {
    const own = read(entry);
    return own !== undefined && term.amounts.some((one) => compare(own, one));
  };
}

function flag<E>(term: FlagTerm, reader: EntryReader<E>): Predicate<E> {
  const tests = term.flags.map((one) => reader.flags[one]);
  return (entry) => tests.some((test) => test(entry));
}
