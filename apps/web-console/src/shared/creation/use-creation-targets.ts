import { useMemo } from 'react';
import { useFleet } from '../fleet/fleet-provider.js';
import type { FleetEntry } from '../fleet/sorted-entries.js';
import { unavailableReason, useCapabilities, type ContextCapabilities } from '../queries/use-capabilities.js';

export interface CreationTargets {
  /**
   * The contexts with the ability. Unreachable ones are included, so that the user can see why they are unavailable.
   */
  readonly contexts: readonly ContextCapabilities[];
  /** The existing VMs. */
  readonly entries: readonly FleetEntry[];
  readonly namespaces: readonly string[];
  /** The context with this name, or else the first reachable one. */
  readonly contextNamed: (name: string) => ContextCapabilities | undefined;
}

/** Where an instance can be created: contexts, namespaces, and the existing instances. */
export function useCreationTargets(ability: string): CreationTargets {
  const { data: capabilities } = useCapabilities();
  const entries = useFleet((fleet) => fleet.entries);
  return useMemo(() => {
    const contexts = (capabilities?.contexts ?? []).filter(
      (context) => unavailableReason(context, ability) === undefined,
    );
    return {
      contexts,
      entries,
      namespaces: [...new Set(entries.map(({ namespace }) => namespace))].sort(),
      contextNamed: (name) =>
        contexts.find(({ context }) => context === name) ?? contexts.find(({ up }) => up) ?? contexts[0],
    };
  }, [capabilities, entries, ability]);
}
