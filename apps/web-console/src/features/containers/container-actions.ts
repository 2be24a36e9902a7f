import type { ContainerView } from '@headgate/api-contracts';
import type { BulkOperation, RowAction } from '../../shared/list/list-kind.js';
import { bulkConfirmation } from '../../shared/power/action-effects.js';
import { CONTAINER_POWER } from '../../shared/power/power-wording.js';
import type { ActionRefusal } from '../../shared/power/use-action-refusal.js';

/** The power action that makes sense in the container's current phase. */
export const nextPower = ({ phase }: ContainerView): 'start' | 'stop' => (phase === 'Stopped' ? 'start' : 'stop');

export function containerActions(ct: ContainerView, refusal: ActionRefusal): readonly RowAction[] {
  const power = nextPower(ct);
  const { label, icon } = CONTAINER_POWER[power];
  return [
    { name: 'power', label, fullLabel: `${label} ${ct.name}`, icon, reason: refusal(power, ct) },
    { name: 'shell', label: 'Open shell', fullLabel: `Open shell in ${ct.name}`, icon: 'terminal' },
    {
      name: 'delete',
      label: 'Delete',
      fullLabel: `Delete ${ct.name}`,
      icon: 'trash',
      reason: refusal('delete', ct),
    },
  ];
}

/** The bulk operations for containers. */
export const containerOperations = (refusal: ActionRefusal): readonly BulkOperation<ContainerView>[] => [
  ...(['start', 'stop'] as const).map((action): BulkOperation<ContainerView> => ({
    name: action,
    label: CONTAINER_POWER[action].label,
    icon: CONTAINER_POWER[action].icon,
    ...bulkConfirmation(action, 'containers'),
    ...(action === 'stop'
      ? { warning: 'The processes of the containers are ended. Their data volumes are kept.' }
      : {}),
    refusal: (ct) => refusal(action, ct),
    request: () => ({ action }),
  })),
  {
    name: 'delete',
    label: 'Delete',
    icon: 'trash',
    ...bulkConfirmation('delete', 'containers'),
    warning: 'Their data volumes are deleted too.',
    refusal: (ct) => refusal('delete', ct),
    request: () => ({ action: 'delete' }),
  },
];
