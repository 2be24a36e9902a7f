import { useFleet } from '../../shared/fleet/fleet-provider.js';
import { useCapabilities, type ContextCapabilities } from '../../shared/queries/use-capabilities.js';

/** The configured contexts. The status from the stream is newer than the capabilities. */
export function useContexts(): readonly ContextCapabilities[] {
  const { data } = useCapabilities();
  const streamed = useFleet((fleet) => fleet.contexts);
  return (data?.contexts ?? []).map((context) => {
    const status = streamed[context.context];
    if (!status || status.up === context.up) return context;
    const { reason: _old, ...rest } = context;
    return { ...rest, ...status };
  });
}
