import { useCapabilities, type ContextCapabilities } from '../queries/use-capabilities.js';
import { useFleet } from './fleet-provider.js';
import type { FleetEntry } from './sorted-entries.js';

/** A configured context, and whether it is reachable. */
export type ReachableContext = Pick<ContextCapabilities, 'context' | 'up'> &
  Partial<Pick<ContextCapabilities, 'label' | 'reason' | 'simulated'>>;

/**
 * The configured contexts. The status from the stream is newer than the capabilities, which the service can't answer
 * without any reachable context. A context whose entries are all stale is down, whatever the last status was, and so
 * is every context while the service does not respond.
 */
export function useContexts(): readonly ReachableContext[] {
  const { data } = useCapabilities();
  const streamed = useFleet((fleet) => fleet.contexts);
  const isLost = useFleet(({ phase }) => phase === 'lost');
  const stale = JSON.parse(useFleet(({ partial, entries }) => (partial ? staleContexts(entries) : '[]'))) as string[];
  const seen = [...new Set([...Object.keys(streamed), ...stale])].sort();
  const contexts: readonly ReachableContext[] = data?.contexts ?? seen.map((context) => ({ context, up: true }));
  return contexts.map((context) => {
    const status = streamed[context.context];
    const { reason: _old, ...rest } = context;
    const known = status && status.up !== context.up ? { ...rest, ...status } : context;
    return isLost || stale.includes(context.context) ? { ...known, up: false } : known;
  });
}

/** Whether the service responds, and any of its contexts is up. */
export function useIsReachable(): boolean {
  const contexts = useContexts();
  const isLost = useFleet(({ phase }) => phase === 'lost');
  return !isLost && (contexts.length === 0 || contexts.some(({ up }) => up));
}

/** The contexts that have only stale entries, as JSON, which is equal for the same contexts. */
function staleContexts(entries: readonly FleetEntry[]): string {
  const [fresh, stale] = [new Set<string>(), new Set<string>()];
  for (const entry of entries) (entry.stale === true ? stale : fresh).add(entry.context);
  return JSON.stringify([...stale].filter((context) => !fresh.has(context)).sort());
}
