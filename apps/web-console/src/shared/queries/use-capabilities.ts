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
export const unavailableReason = (context: ContextCapabilities | undefined, ability: string): string | undefined =>
  reasonIn(context?.abilities, ability);

/** The same for the containers of a context, which has some abilities for VMs only. */
export const unavailableForContainers = (
  context: ContextCapabilities | undefined,
  ability: string,
): string | undefined => reasonIn(context?.containerAbilities, ability);

function reasonIn(abilities: ContextCapabilities['abilities'] | undefined, ability: string): string | undefined {
  const has = abilities?.[ability];
  return has === true ? undefined : has;
}
