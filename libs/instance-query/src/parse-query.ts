import {
  amountField,
  flagOf,
  KNOWN_FIELDS,
  KNOWN_FLAGS,
  textField,
  type AmountField,
  type TextField,
} from './fields.js';
import { EXAMPLES, parseAmount } from './parse-amount.js';
import { QueryError } from './query-error.js';
import {
  MAX_QUERY_CHARS,
  MAX_QUERY_TERMS,
  OPERATORS,
  type Amount,
  type Operator,
  type Query,
  type Term,
} from './query.js';
import { Scanner } from './scanner.js';

/**
 * Parses a query such as `web status:running mem>8Gi not:agent`.
 * @throws QueryError for an unknown field, a value that the field can't have, an open quote, or a query that is too
 * long
 */
export function parseQuery(text: string): Query {
  if (text.length > MAX_QUERY_CHARS)
    throw new QueryError(
      `The query has ${text.length.toLocaleString('en')} characters; use at most ${MAX_QUERY_CHARS.toLocaleString('en')}.`,
      MAX_QUERY_CHARS,
    );
  const scanner = new Scanner(text);
  const terms: Term[] = [];
  for (scanner.skipSpaces(); scanner.at < text.length; scanner.skipSpaces()) {
    if (terms.length === MAX_QUERY_TERMS)
      throw new QueryError(`The query has too many terms; use at most ${MAX_QUERY_TERMS}.`, scanner.at);
    terms.push(parseTerm(scanner));
  }
  return { terms };
}

function parseTerm(scanner: Scanner): Term {
  const from = scanner.at;
  const prefix = /^(?:not:|-)/i.exec(scanner.text.slice(from, from + 4))?.[0] ?? '';
  scanner.at += prefix.length;
  if (prefix !== '' && scanner.isAtBreak()) {
    // A dash alone is a word.
    if (prefix === '-') return { type: 'word', negated: false, text: prefix };
    throw new QueryError('A term must follow not: without a space, as in not:agent.', scanner.at);
  }
  return parsePositive(scanner, prefix !== '');
}

function parsePositive(scanner: Scanner, negated: boolean): Term {
  const from = scanner.at;
  if (scanner.isAt('"')) return quotedWord(scanner, negated);
  const name = scanner.until(':<>=');
  const operator = OPERATORS.find((one) => scanner.isAt(one));
  if (operator === undefined) return bareWord(name, negated);
  scanner.at += operator.length;
  if (name.toLowerCase() === 'is') return flagTerm(scanner, operator, negated);
  const text = textField(name);
  if (text) return textTerm(scanner, text, operator, negated);
  const amount = amountField(name);
  if (amount) return amountTerm(scanner, amount, operator, negated);
  const value = scanner.until();
  if (isLikeField(name, operator, value)) throw unknownField(name, from);
  return { type: 'word', negated, text: scanner.text.slice(from, scanner.at) };
}

/** `not:agent` is about the flag, `agent` is a word. */
function bareWord(text: string, negated: boolean): Term {
  const flag = negated ? flagOf(text) : undefined;
  return flag ? { type: 'flag', negated, flags: [flag] } : { type: 'word', negated, text };
}

function quotedWord(scanner: Scanner, negated: boolean): Term {
  const from = scanner.at;
  const text = scanner.quoted();
  if (text === '') throw new QueryError('These quotes are empty; write a word between them.', from);
  return { type: 'word', negated, text };
}

/**
 * Whether a term that begins with no known field was probably meant to. Addresses (`fe80::1`, `dead:beef::1`), images
 * (`fedora:40`, `nginx:latest`, `quay.io/a/b:c`) and times (`12:30`) are words.
 */
const isLikeField = (name: string, operator: Operator, value: string): boolean =>
  /^[a-z_][a-z_-]*$/i.test(name) && value !== '' && !(operator === ':' && /^\d|:|^latest$/.test(value));

const unknownField = (name: string, at: number): QueryError =>
  name.toLowerCase() === 'not'
    ? new QueryError('A term can have not: only once.', at)
    : new QueryError(
        `There is no field "${name}"; the fields are ${KNOWN_FIELDS}, and a word with a colon needs quotes.`,
        at,
      );

function textTerm(scanner: Scanner, field: TextField, operator: Operator, negated: boolean): Term {
  if (operator !== ':' && operator !== '=')
    throw new QueryError(`${field} can't be compared; write ${field}:VALUE.`, scanner.at - operator.length);
  return { type: 'text', negated, field, patterns: parseValues(scanner, field).map(({ text }) => text) };
}

function flagTerm(scanner: Scanner, operator: Operator, negated: boolean): Term {
  if (operator !== ':') throw new QueryError('A colon must follow is, as in is:agent.', scanner.at - operator.length);
  const flags = parseValues(scanner, 'is').map(({ text, at }) => {
    const flag = flagOf(text);
    if (!flag) throw new QueryError(`There is no flag "${text}"; the flags are ${KNOWN_FLAGS}.`, at);
    return flag;
  });
  return { type: 'flag', negated, flags };
}

function amountTerm(scanner: Scanner, field: AmountField, operator: Operator, negated: boolean): Term {
  const isComparison = operator !== ':' && operator !== '=';
  const amounts = parseValues(scanner, field).map(({ text, at }, index): Amount => {
    if (isComparison && index > 0) throw new QueryError(`${field}${operator} takes one value only.`, at);
    const amount = parseAmount(field, text);
    if (!amount) throw new QueryError(`"${text}" can't be compared with ${field}; use ${EXAMPLES[field]}.`, at);
    return amount;
  });
  return { type: 'amount', negated, field, operator: operator === '=' ? ':' : operator, amounts };
}

/** Values that are separated by commas; only one in quotes may be empty. */
function parseValues(scanner: Scanner, field: string): { text: string; at: number }[] {
  const values = [];
  do {
    if (values.length > 0) scanner.at++;
    const at = scanner.at;
    const isQuoted = scanner.isAt('"');
    const text = isQuoted ? scanner.quoted(',') : scanner.until(',');
    if (text === '' && !isQuoted) throw new QueryError(`A value of ${field} is missing here.`, at);
    values.push({ text, at });
  } while (scanner.isAt(','));
  return values;
}
