import type { EntryReader } from '../entry-reader.js';
import type { Query, Term } from '../query.js';

/** Interprets a query term by term, slowly and without any code of the compiler. */
export function referenceMatches<E>({ terms }: Query, entry: E, reader: EntryReader<E>): boolean {
  for (const term of terms) if (holds(term, entry, reader) === term.negated) return false;
  return true;
}

function holds<E>(term: Term, entry: E, reader: EntryReader<E>): boolean {
  if (term.type === 'word') return reader.words(entry).split(term.text.toLowerCase()).length > 1;
  if (term.type === 'flag') return term.flags.filter((flag) => reader.flags[flag](entry)).length > 0;
  if (term.type === 'amount') {
    const own = reader.amounts[term.field](entry);
    if (own === undefined) return false;
    for (const { first, last } of term.amounts) {
      const order = own < first ? -1 : own > last ? 1 : 0;
      const isMet = { '>': order > 0, '>=': order >= 0, '<': order < 0, '<=': order <= 0, ':': order === 0 };
      if (isMet[term.operator]) return true;
    }
    return false;
  }
  const values = reader.texts[term.field](entry).map((value) => value.toLowerCase());
  for (const written of term.patterns) {
    const pattern = written.toLowerCase();
    if (pattern === '' && values.length === 0) return true;
    for (const value of values) {
      if (referenceMatchesPattern(pattern, value)) return true;
      // The members of the folder itself.
      if (term.field === 'folder' && pattern.endsWith('/*') && referenceMatchesPattern(pattern, `${value}/`))
        return true;
    }
  }
  return false;
}

/** The textbook table of every beginning of the pattern with every beginning of the text. */
export function referenceMatchesPattern(pattern: string, text: string): boolean {
  let row = Array.from({ length: text.length + 1 }, (_, index) => index === 0);
  for (const sign of pattern) {
    const next = [sign === '*' && row[0] === true];
    for (let end = 1; end <= text.length; end++)
      next[end] =
        sign === '*' ? row[end] === true || next[end - 1] === true : row[end - 1] === true && text[end - 1] === sign;
    row = next;
  }
  return row[text.length] === true;
}
