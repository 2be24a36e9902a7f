import type { Grant } from '@headgate/domain-contracts';
import type { FleetEntry } from '@headgate/fleet';

/** The entries that a grant allows to read. */
export const readable = (entries: Iterable<FleetEntry>, grant: Grant): Iterable<FleetEntry> =>
  grant.allowsAll('read') ? entries : [...entries].filter((entry) => grant.allows('read', entry));
