import { unavailableReason, type ContextCapabilities } from '../queries/use-capabilities.js';
import { contextOfRef } from './point-names.js';

/**
 * The context that is chosen for a backup before the user chooses one: that of its VM, or the first one with the
 * ability, if that of the VM is gone or lacks it.
 */
export function usualContext(ref: string, contexts: readonly ContextCapabilities[], ability: string): string {
  const able = contexts.filter((one) => unavailableReason(one, ability) === undefined);
  const own = contextOfRef(ref);
  return able.some(({ context }) => context === own) ? own : (able[0]?.context ?? own);
}
