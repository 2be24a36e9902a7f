import type { TextField } from './fields.js';
import type { Query, Term, TextTerm } from './query.js';

const isOf =
  (field: TextField) =>
  (term: Term): term is TextTerm =>
    term.type === 'text' && term.field === field && !term.negated;

/** The values that a query asks for in a field, in lower case. */
export const chosenValues = ({ terms }: Query, field: TextField): string[] => [
  ...new Set(terms.filter(isOf(field)).flatMap(({ patterns }) => patterns.map((pattern) => pattern.toLowerCase()))),
];

/**
 * A query for exactly these values of a field, with the other terms unchanged. The new term takes the place of the old
 * one.
 */
export function withValues({ terms }: Query, field: TextField, patterns: readonly string[]): Query {
  const isOld = isOf(field);
  const at = terms.findIndex(isOld);
  const end = at < 0 ? terms.length : at;
  const term: Term[] = patterns.length === 0 ? [] : [{ type: 'text', negated: false, field, patterns }];
  return { terms: [...terms.slice(0, end), ...term, ...terms.slice(end).filter((one) => !isOld(one))] };
}
