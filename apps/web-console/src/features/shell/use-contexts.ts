import { useFleet } from '../../shared/fleet/fleet-provider.js';
import { useCapabilities, type ContextAbilities } from '../../shared/queries/use-capabilities.js';

/** The configured contexts; what the stream said last wins over the last answer. */
export function useContexts(): readonly ContextAbilities[] {
  const { data } = useCapabilities();
  const heard = useFleet((fleet) => fleet.contexts);
  return (data?.contexts ?? []).map((context) => {
    const status = heard[context.context];
    if (!status || status.up === context.up) return context;
    const { reason: _old, ...rest } = context;
    return { ...rest, ...status };
  });
}
