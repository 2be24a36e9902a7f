import type { BulkQuery } from '@headgate/api-contracts';
import { DomainError, parseRef, type Caller, type InstanceRef } from '@headgate/domain-contracts';
import { compileQuery } from '@headgate/instance-query';
import { queryEntries, type FleetReader } from '@headgate/fleet';
import { ENTRY_FIELDS } from '../fleet/entry-fields.js';
import { parseListQuery } from '../fleet/compile-list-query.js';
import { readable } from '../fleet/readable.js';

export interface MemberChoice {
  readonly refs?: readonly string[] | undefined;
  readonly query?: BulkQuery | undefined;
}

/**
 * The instances of a bulk task: the given ones, or those that a query finds.
 * @throws DomainError INVALID_INPUT for a query that would choose every instance or can't be understood; INVALID_REF
 */
export function findMembers({ refs, query }: MemberChoice, fleet: FleetReader, caller: Caller): InstanceRef[] {
  if (refs) return refs.map(parseRef);
  const { kind = 'vm', q, context, folder } = query ?? {};
  const parsed = parseListQuery(q);
  if (parsed.terms.length === 0 && context === undefined && folder === undefined)
    throw new DomainError('INVALID_INPUT', 'query must have at least one of q, context and folder.');
  const matches = compileQuery(parsed, ENTRY_FIELDS);
  return queryEntries(readable(fleet.all(kind), caller.grant), { matches, context, folder }).entries.map(
    ({ instance }) => instance.ref,
  );
}
