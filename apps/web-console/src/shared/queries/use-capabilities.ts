import { useQuery } from '@tanstack/react-query';
import type { CapabilitiesView, ContextCapabilitiesView } from '@headgate/api-contracts';
import { getJson } from '../api/request.js';

export type ContextAbilities = ContextCapabilitiesView;
export type Capabilities = CapabilitiesView;

export const useCapabilities = () =>
  useQuery({
    queryKey: ['capabilities'],
    queryFn: ({ signal }) => getJson<Capabilities>('/api/capabilities', { signal }),
    refetchInterval: 10_000,
  });

export const contextNamed = (capabilities: Capabilities | undefined, name: string): ContextAbilities | undefined =>
  capabilities?.contexts.find(({ context }) => context === name);

/** Why a context can't do something; undefined when it can, or when nobody knows yet. */
export function lackOf(context: ContextAbilities | undefined, ability: string): string | undefined {
  if (!context) return undefined;
  const has = context.abilities[ability];
  if (has === true || has === undefined) return undefined;
  return has;
}
