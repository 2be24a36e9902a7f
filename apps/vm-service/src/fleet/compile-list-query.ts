import { DomainError } from '@headgate/domain-contracts';
import type { FleetEntry } from '@headgate/fleet';
import { compileQuery, parseQuery, QueryError, type Predicate, type Query } from '@headgate/instance-query';
import { ENTRY_FIELDS } from './entry-fields.js';

/**
 * The query `q` of a request.
 * @throws DomainError INVALID_INPUT with the position of the mistake
 */
export function parseListQuery(q = ''): Query {
  try {
    return parseQuery(q);
  } catch (error) {
    if (!(error instanceof QueryError)) throw error;
    throw new DomainError('INVALID_INPUT', `q: ${error.located}`, { cause: error });
  }
}

/** @throws DomainError INVALID_INPUT with the position of the mistake */
export const compileListQuery = (q?: string): Predicate<FleetEntry> => compileQuery(parseListQuery(q), ENTRY_FIELDS);
