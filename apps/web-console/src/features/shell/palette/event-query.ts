import type { JournalFilterDto } from '@headgate/api-contracts';
import type { Instance } from '../../../shared/instances/instance.js';
import { folded } from './text-rank.js';

/** Shorter texts are in too many actions. */
const LEAST_CHARS = 3;
const MOST_CHARS = 100;

/**
 * The entries of the journal that a text means: an action such as "stop", the name of an instance, or both. Undefined
 * for a text that means none.
 */
export function eventQuery(
  text: string,
  entries: readonly Instance[],
): Pick<JournalFilterDto, 'action' | 'ref'> | undefined {
  const wanted = text.trim();
  if (wanted.length < LEAST_CHARS || wanted.length > MOST_CHARS) return undefined;
  const whole = named(wanted, entries);
  if (whole) return { ref: whole.ref };
  const [, action, name] = /^(.+?)\s+(\S+)$/.exec(wanted) ?? [];
  const last = name === undefined ? undefined : named(name, entries);
  return last && action !== undefined ? { action, ref: last.ref } : { action: wanted };
}

/** The instance with this name. */
function named(name: string, entries: readonly Instance[]): Instance | undefined {
  const wanted = folded(name);
  // The lengths are compared first, because almost no name has the same one and folding each would take long.
  return entries.find((entry) => entry.name.length === name.length && folded(entry.name) === wanted);
}
