import type { Caller, Grant } from '@headgate/domain-contracts';
import type { FleetEntry } from '@headgate/fleet';

/** The grant of a caller who may not read every instance. */
export const limitOf = ({ grant }: Caller): Grant | undefined => (grant?.allowsAll('read') ? undefined : grant);

/** The entries that a grant allows to read. */
export const readable = (entries: Iterable<FleetEntry>, grant: Grant | undefined): Iterable<FleetEntry> =>
  grant ? [...entries].filter((entry) => grant.allows('read', entry)) : entries;
