import fc from 'fast-check';
import { compileQuery } from './compile-query.js';
import { formatQuery } from './format-query.js';
import { matchPattern } from './match-pattern.js';
import { parseQuery } from './parse-query.js';
import { QueryError } from './query-error.js';
import { arbitraryEntry, arbitraryQuery, arbitraryText } from './testing/arbitrary-query.js';
import { reader } from './testing/build-entry.js';
import { referenceMatches, referenceMatchesPattern } from './testing/reference-matches.js';

const RUNS = { numRuns: 2000 };

test('every query is written so that it is read back unchanged', () => {
  fc.assert(
    fc.property(arbitraryQuery, (query) => expect(parseQuery(formatQuery(query))).toEqual(query)),
    RUNS,
  );
});

test('a random text is a query that formats to a fixed point, or fails with a query error inside of the text', () => {
  let valid = 0;
  fc.assert(
    fc.property(arbitraryText, (text) => {
      try {
        const query = parseQuery(text);
        const formatted = formatQuery(query);
        expect(parseQuery(formatted)).toEqual(query);
        expect(formatQuery(parseQuery(formatted))).toBe(formatted);
        valid++;
      } catch (error) {
        if (!(error instanceof QueryError)) throw error;
        expect(error.at).toBeGreaterThanOrEqual(0);
        expect(error.at).toBeLessThanOrEqual(text.length);
        expect(error.message).toMatch(/^[^\n]*\.$/s);
      }
    }),
    RUNS,
  );
  expect(valid).toBeGreaterThan(100);
});

test('a compiled query agrees with an interpreter', () => {
  let matched = 0;
  fc.assert(
    fc.property(arbitraryQuery, arbitraryEntry, (query, entry) => {
      const expected = referenceMatches(query, entry, reader);
      expect(compileQuery(query, reader)(entry)).toBe(expected);
      if (expected && query.terms.length > 0) matched++;
    }),
    RUNS,
  );
  expect(matched).toBeGreaterThan(100);
});

test('a pattern agrees with the textbook algorithm', () => {
  const letters = fc.string({ unit: fc.constantFrom('a', 'b'), maxLength: 8 });
  const patterns = fc.string({ unit: fc.constantFrom('a', 'b', '*'), maxLength: 8 });
  fc.assert(
    fc.property(patterns, letters, (pattern, text) =>
      expect(matchPattern(pattern)(text)).toBe(referenceMatchesPattern(pattern, text)),
    ),
    { numRuns: 5000 },
  );
});
