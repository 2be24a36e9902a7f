import { useQuery } from '@tanstack/react-query';
import type { CapabilitiesView, ContextCapabilitiesView } from '@headgate/api-contracts';
import { getJson } from '../api/request.js';
import { STREAMED_KEYS, useFreshness } from './stream-queries.js';

export type ContextCapabilities = ContextCapabilitiesView;
export type Capabilities = CapabilitiesView;

export const useCapabilities = () =>
  useQuery({
    queryKey: STREAMED_KEYS.capabilities,
    queryFn: ({ signal }) => getJson('/api/capabilities', { signal }),
    ...useFreshness(10_000),
  });

export const contextNamed = (capabilities: Capabilities | undefined, name: string): ContextCapabilities | undefined =>
  capabilities?.contexts.find(({ context }) => context === name);

/** Why a context lacks an ability; undefined when it has the ability or the capabilities are not loaded yet. */
export function unavailableReason(context: ContextCapabilities | undefined, ability: string): string | undefined {
  if (!context) return undefined;
  const has = context.abilities[ability];
  if (has === true || has === undefined) return undefined;
  return has;
}
