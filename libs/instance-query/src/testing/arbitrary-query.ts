import fc from 'fast-check';
import { AMOUNT_FIELDS, FLAGS, TEXT_FIELDS } from '../fields.js';
import type { ListedInstance } from '../listed-instance.js';
import { parseAmount } from '../parse-amount.js';
import type { Query, Term } from '../query.js';
import { buildEntry } from './build-entry.js';

/** Few letters, so that random patterns match random names, and the characters with a meaning in queries. */
const texts = fc.string({
  unit: fc.constantFrom('a', 'b', 'A', 'B', 'ß', 'א', '/', '-', ':', '*', ',', '"', '\\', ' ', '>', '='),
  maxLength: 6,
});
const names = fc.string({ unit: fc.constantFrom('a', 'b', 'B', '/', '-', 'א'), maxLength: 6 });
const negated = fc.boolean();

const timeTexts = fc.constantFrom('2026-01-31', '2026-01-31T08:00Z', '2026-02-01T00:00:00.5+02:00');
const amountTexts = {
  cpu: fc.constantFrom('0', '2', '2.5', '4'),
  mem: fc.constantFrom('8', '4Gi', '4G', '8 GiB', '512mb'),
  disk: fc.constantFrom('20Gi', '1T', '0'),
  pending: fc.constantFrom('0', '1', '3'),
  created: timeTexts,
  started: timeTexts,
};

const amountTerms = fc.constantFrom(...AMOUNT_FIELDS).chain((field) =>
  fc.record({
    type: fc.constant('amount' as const),
    negated,
    field: fc.constant(field),
    operator: fc.constantFrom('>' as const, '>=' as const, '<' as const, '<=' as const, ':' as const),
    amounts: amountTexts[field].map((text) => [parseAmount(field, text)!]),
  }),
);

const terms: fc.Arbitrary<Term> = fc.oneof(
  fc.record({ type: fc.constant('word' as const), negated, text: texts.filter((text) => text !== '') }),
  fc.record({
    type: fc.constant('text' as const),
    negated,
    field: fc.constantFrom(...TEXT_FIELDS),
    patterns: fc.array(texts, { minLength: 1, maxLength: 3 }),
  }),
  amountTerms,
  fc.record({
    type: fc.constant('flag' as const),
    negated,
    flags: fc.array(fc.constantFrom(...FLAGS), { minLength: 1, maxLength: 2 }),
  }),
);

export const arbitraryQuery: fc.Arbitrary<Query> = fc.record({ terms: fc.array(terms, { maxLength: 4 }) });

export const arbitraryEntry: fc.Arbitrary<ListedInstance> = fc
  .record(
    {
      name: names,
      namespace: names,
      context: names,
      status: fc.constantFrom('Running', 'Stopped', 'a'),
      node: names,
      folder: names,
      tags: fc.array(names, { maxLength: 3 }),
      cpu: fc.constantFrom(1, 2, 4),
      mem: fc.constantFrom('4Gi', '8Gi', '512Mi'),
      disk: fc.constantFrom('20Gi', '1Ti'),
      createdAt: fc.constantFrom('2026-01-30T23:59:59Z', '2026-01-31T08:00:00Z', '2026-02-01T00:00:00Z'),
      agentConnected: fc.boolean(),
      stale: fc.boolean(),
    },
    { requiredKeys: [] },
  )
  .map(buildEntry);

/** Texts that look like queries. */
export const arbitraryText = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 60 }),
  fc
    .array(
      fc.constantFrom(
        ...['not:', '-', 'is:', 'status', 'tag:', 'mem', 'cpu>=', 'folder:', '"', '\\', ',', ' ', '*', ':', '>', '='],
        ...['a', '8Gi', 'agent', '__proto__', 'constructor:', 'fe80::1', 'א', '\u202e', '\u00a0'],
      ),
      { maxLength: 20 },
    )
    .map((parts) => parts.join('')),
);
