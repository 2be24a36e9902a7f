import { formatQuery } from './format-query.js';
import { parseQuery } from './parse-query.js';
import { MAX_QUERY_CHARS, MAX_QUERY_TERMS } from './query.js';
import { QueryError } from './query-error.js';

const word = (text: string, negated = false) => ({ type: 'word', negated, text });
const errorOf = (text: string): QueryError => {
  try {
    parseQuery(text);
  } catch (error) {
    if (error instanceof QueryError) return error;
    throw error;
  }
  throw new Error(`"${text}" is a query.`);
};

describe('parseQuery', () => {
  test('reads words, fields, comparisons, flags and negations', () => {
    expect(parseQuery(' web Status:Running,paused\tmem>=8Gi is:agent not:template -tag:"a b" ').terms).toEqual([
      word('web'),
      { type: 'text', negated: false, field: 'status', patterns: ['Running', 'paused'] },
      {
        type: 'amount',
        negated: false,
        field: 'mem',
        operator: '>=',
        amounts: [{ text: '8Gi', first: 2 ** 33, last: 2 ** 33 }],
      },
      { type: 'flag', negated: false, flags: ['agent'] },
      { type: 'flag', negated: true, flags: ['template'] },
      { type: 'text', negated: true, field: 'tag', patterns: ['a b'] },
    ]);
  });

  test.each([
    'fe80::1',
    'dead:beef::1',
    '::1',
    '[fe80::1]:22',
    'quay.io/containerdisks/fedora:latest',
    'fedora:40',
    'nginx:latest',
    'sha256:0a1b',
    '12:30',
    'app:',
    ':app',
    'web*',
    'a"b',
    '-',
    'a-b',
    'agent',
    '>3',
    '2>1',
  ])('"%s" is a word', (text) => expect(parseQuery(text).terms).toEqual([word(text)]));

  test.each([
    ['"nginx:alpine"', 'nginx:alpine'],
    ['"two words"', 'two words'],
    ['"-web"', '-web'],
    ['"a \\"b\\\\"', 'a "b\\'],
  ])('%s is the word between the quotes', (text, expected) => {
    expect(parseQuery(text).terms).toEqual([word(expected)]);
    expect(formatQuery(parseQuery(text))).toBe(text);
  });

  test.each([
    ['web staus:running', 4, 'There is no field "staus"; the fields are is, not, name, ns, kind, status,'],
    ['memry>8Gi', 0, 'There is no field "memry"'],
    ['__proto__:x', 0, 'There is no field "__proto__"'],
    ['constructor:x', 0, 'There is no field "constructor"'],
    ['is:constructor', 3, 'There is no flag "constructor"; the flags are agent, busy,'],
    ['is:agent,__proto__', 9, 'There is no flag "__proto__"'],
    ['is>agent', 2, 'A colon must follow is'],
    ['status:', 7, 'A value of status is missing here.'],
    ['status:a,,b', 9, 'A value of status is missing here.'],
    ['a status>b', 8, "status can't be compared; write status:VALUE."],
    ['mem>lots', 4, '"lots" can\'t be compared with mem; use a size such as 8Gi or 512Mi.'],
    ['cpu>=4,8', 7, 'cpu>= takes one value only.'],
    ['created>2026-02-30', 8, '"2026-02-30" can\'t be compared with created; use a day such as'],
    ['tag:"a', 4, 'This quote is not closed'],
    ['"a"b', 3, 'A space must follow the closing quote.'],
    ['""', 0, 'These quotes are empty'],
    ['not: agent', 4, 'A term must follow not: without a space'],
    ['not:not:agent', 4, 'A term can have not: only once.'],
  ])('refuses %s at its position', (text, at, message) => {
    const error = errorOf(text);
    expect(error.at).toBe(at);
    expect(error.message).toContain(message);
    expect(error.located).toBe(`Character ${at + 1}: ${error.message}`);
  });

  test('refuses a query that is too long or has too many terms, before it reads them', () => {
    expect(errorOf('x'.repeat(1_000_000)).message).toBe('The query has 1,000,000 characters; use at most 2,048.');
    expect(parseQuery('x'.repeat(MAX_QUERY_CHARS)).terms).toHaveLength(1);
    expect(errorOf('a '.repeat(1000)).message).toBe('The query has too many terms; use at most 200.');
    expect(parseQuery('a '.repeat(MAX_QUERY_TERMS)).terms).toHaveLength(MAX_QUERY_TERMS);
  });
});

test('formatQuery writes the names of the fields and one form of negation', () => {
  expect(formatQuery(parseQuery('  CTX:lab  -web not:is:Agent memory="8 GiB",4g -"agent"'))).toBe(
    'context:lab not:web not:agent mem:"8 GiB",4g not:"agent"',
  );
});
