import { t } from '@lingui/core/macro';
import { useFleet } from '../../shared/fleet/fleet-provider.js';
import { readOnlyReason, useWhoami } from '../../shared/queries/use-whoami.js';

/** Why folders can't be changed now, as a sentence; undefined when the user may try it. */
export function useFolderRefusal(): string | undefined {
  const { data: whoami } = useWhoami();
  const isLost = useFleet(({ phase }) => phase === 'lost');
  return readOnlyReason(whoami) ?? (isLost ? t`The service does not respond.` : undefined);
}
