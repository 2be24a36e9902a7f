import { t } from '@lingui/core/macro';
import type { NodeDetailsView } from '@headgate/api-contracts';
import { contextNamed, unavailableReason, useCapabilities } from '../../shared/queries/use-capabilities.js';
import { isAdministrator, useWhoami } from '../../shared/queries/use-whoami.js';

/** Why the user can't cordon or drain a node; undefined if they can. */
export function useNodeRefusal({ context }: Pick<NodeDetailsView, 'context'>): string | undefined {
  const { data: whoami } = useWhoami();
  const { data: capabilities } = useCapabilities();
  if (whoami && !isAdministrator(whoami)) return t`Only administrators can cordon and drain nodes.`;
  return unavailableReason(contextNamed(capabilities, context), 'nodeScheduling');
}
