import { formatRef, type Grant } from '@headgate/domain-contracts';
import type { FleetEntry, FleetReader } from '@headgate/fleet';

/** The entries that a grant allows to read. */
export const readable = (entries: Iterable<FleetEntry>, grant: Grant): Iterable<FleetEntry> =>
  grant.allowsAll('read') ? entries : [...entries].filter((entry) => grant.allows('read', entry));

/**
 * Whether a grant allows to read a past entry: as it was, and also the same instance as it is now. An instance that
 * does not exist any more is in no folder, so only a grant for everything has it.
 */
export function mayReadPast(entry: FleetEntry, grant: Grant, fleet: Pick<FleetReader, 'get'>): boolean {
  if (grant.allowsAll('read')) return true;
  const { ref, uid } = entry.instance;
  return fleet.get(ref)?.uid === uid && grant.allows('read', entry) && grant.allowsRef('read', formatRef(ref));
}
