import { useMemo } from 'react';
import { useFleet } from '../fleet/fleet-provider.js';
import type { FleetEntry } from '../fleet/sorted-entries.js';
import { lackOf, useCapabilities, type ContextAbilities } from '../queries/use-capabilities.js';

export interface Surroundings {
  /** Those that have the ability; the ones that can't be reached too, so that nobody misses them. */
  readonly contexts: readonly ContextAbilities[];
  /** VMs, which the page always knows. */
  readonly entries: readonly FleetEntry[];
  readonly namespaces: readonly string[];
  /** The context that was chosen, or else the first that can be reached. */
  readonly contextNamed: (name: string) => ContextAbilities | undefined;
}

/** What a new instance meets: contexts, namespaces, and who is there already. */
export function useSurroundings(ability: string): Surroundings {
  const { data: capabilities } = useCapabilities();
  const entries = useFleet((fleet) => fleet.entries);
  return useMemo(() => {
    const contexts = (capabilities?.contexts ?? []).filter((context) => lackOf(context, ability) === undefined);
    return {
      contexts,
      entries,
      namespaces: [...new Set(entries.map(({ namespace }) => namespace))].sort(),
      contextNamed: (name) =>
        contexts.find(({ context }) => context === name) ?? contexts.find(({ up }) => up) ?? contexts[0],
    };
  }, [capabilities, entries, ability]);
}
