import { parseQuery } from './parse-query.js';
import type { Query, Term, WordTerm } from './query.js';

/** The shortest text that `parseQuery` reads as this query. */
export const formatQuery = ({ terms }: Query): string => terms.map(formatTerm).join(' ');

function formatTerm(term: Term): string {
  if (term.type === 'word') return formatWord(term);
  const prefix = term.negated ? 'not:' : '';
  switch (term.type) {
    case 'text':
      return `${prefix}${term.field}:${term.patterns.map(formatValue).join(',')}`;
    case 'amount':
      return `${prefix}${term.field}${term.operator}${term.amounts.map(({ text }) => formatValue(text)).join(',')}`;
    case 'flag':
      return `${prefix}${term.negated && term.flags.length === 1 ? '' : 'is:'}${term.flags.join(',')}`;
  }
}

/** In quotes if it would be something else without them. */
function formatWord({ text, negated }: WordTerm): string {
  const prefix = negated ? 'not:' : '';
  return isSameWord(`${prefix}${text}`, text, negated) ? `${prefix}${text}` : `${prefix}${quote(text)}`;
}

function isSameWord(written: string, text: string, negated: boolean): boolean {
  try {
    const [term, ...others] = parseQuery(written).terms;
    return others.length === 0 && term?.type === 'word' && term.text === text && term.negated === negated;
  } catch {
    return false;
  }
}

const formatValue = (text: string): string => (text === '' || /[\s,]|^"/.test(text) ? quote(text) : text);

const quote = (text: string): string => `"${text.replace(/["\\]/g, '\\$&')}"`;
