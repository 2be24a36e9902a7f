import type { BulkQuery } from '@headgate/api-contracts';
import { DomainError, parseRef, type Caller, type InstanceRef } from '@headgate/domain-contracts';
import { queryEntries, wordsOf, type FleetReader } from '@headgate/fleet';
import { readable } from '../fleet/readable.js';

export interface MemberChoice {
  readonly refs?: readonly string[] | undefined;
  readonly query?: BulkQuery | undefined;
}

/**
 * The instances of a bulk task: the given ones, or those that a query finds.
 * @throws DomainError INVALID_INPUT for a query that would choose every instance; INVALID_REF
 */
export function findMembers({ refs, query }: MemberChoice, fleet: FleetReader, caller: Caller): InstanceRef[] {
  if (refs) return refs.map(parseRef);
  const { kind = 'vm', q, context, folder } = query ?? {};
  const words = wordsOf(q);
  if (words.length === 0 && context === undefined && folder === undefined)
    throw new DomainError('INVALID_INPUT', 'query must have at least one of q, context and folder.');
  return queryEntries(readable(fleet.all(kind), caller.grant), { words, context, folder }).entries.map(
    ({ instance }) => instance.ref,
  );
}
