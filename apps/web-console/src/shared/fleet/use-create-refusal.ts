import { t } from '@lingui/core/macro';
import { readOnlyReason, useWhoami } from '../queries/use-whoami.js';
import { useFleet } from './fleet-provider.js';
import { useIsReachable } from './use-contexts.js';

/** Why no instance can be created now, as a sentence; undefined when the user may try it. */
export function useCreateRefusal(): string | undefined {
  const { data: whoami } = useWhoami();
  const isReachable = useIsReachable();
  const isLost = useFleet(({ phase }) => phase === 'lost');
  const unreachable = isLost ? t`The service does not respond.` : t`No context is reachable.`;
  return readOnlyReason(whoami) ?? (isReachable ? undefined : unreachable);
}
