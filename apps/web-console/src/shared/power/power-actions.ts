import type { ContainerView, VmView, WhoamiView } from '@headgate/api-contracts';
import { statusWords } from '../ui/status-tone.js';
import { busyReason } from '../instances/busy.js';
import { isVm, type Instance } from '../instances/instance.js';
import { unavailableReason, type ContextCapabilities } from '../queries/use-capabilities.js';
import { readOnlyReason } from '../queries/use-whoami.js';

export const POWER_ACTIONS = ['start', 'stop', 'restart', 'force-stop', 'pause', 'unpause'] as const;
export type PowerAction = (typeof POWER_ACTIONS)[number];
export type InstanceAction = PowerAction | 'migrate' | 'tag' | 'delete';

export interface ActionConditions {
  readonly context?: ContextCapabilities | undefined;
  readonly whoami?: WhoamiView | undefined;
}

/** Why an action is unavailable right now, as a sentence; undefined when the user may try it. The service decides. */
export function actionRefusal(
  action: InstanceAction,
  instance: Instance,
  { context, whoami }: ActionConditions = {},
): string | undefined {
  return (
    readOnlyReason(whoami) ??
    (instance.stale || context?.up === false ? `The context ${instance.context} is unreachable.` : undefined) ??
    unavailableReason(context, isVm(instance) ? ABILITY[action] : 'containers') ??
    busyReason(instance) ??
    (isVm(instance) ? stateRefusal(action, instance) : containerRefusal(action, instance))
  );
}

function containerRefusal(action: InstanceAction, { phase }: ContainerView): string | undefined {
  if (action === 'delete') return undefined;
  if (action === 'start') return phase === 'Stopped' ? undefined : 'It is not stopped.';
  if (action === 'stop') return phase === 'Stopped' ? 'It is already stopped.' : undefined;
  return 'Not available for containers.';
}

const ABILITY: Readonly<Record<InstanceAction, string>> = {
  start: 'power',
  stop: 'power',
  'force-stop': 'power',
  restart: 'power',
  pause: 'power',
  unpause: 'power',
  migrate: 'migration',
  tag: 'provisioning',
  delete: 'provisioning',
};

/** The reason that the service gives as well. */
const templateRefusal = (name: string): string =>
  `${name} is a template: clone it and start the clone, or remove the template mark first.`;

const STATUSES_WITHOUT_GUEST = ['Stopped', 'Provisioning', 'WaitingForVolumeBinding', 'Terminating'];

function stateRefusal(
  action: InstanceAction,
  { name, status, isTemplate, liveMigratable }: VmView,
): string | undefined {
  if (status === 'Terminating') return 'It is being deleted.';
  if (action === 'delete' || action === 'tag') return undefined;
  if (status === 'Provisioning') return 'Its disk is still being created.';
  const hasGuest = !STATUSES_WITHOUT_GUEST.includes(status);
  switch (action) {
    case 'start':
      if (hasGuest) return `Only a stopped VM can be started. Its state is "${statusWords(status)}".`;
      return isTemplate ? templateRefusal(name) : undefined;
    case 'stop':
      if (!hasGuest) return 'It is already stopped.';
      return status === 'Stopping' ? 'It is already shutting down.' : undefined;
    case 'force-stop':
      return hasGuest ? undefined : 'It is already stopped.';
    case 'restart':
      return hasGuest && status !== 'Stopping' ? undefined : 'Only a running VM can be restarted.';
    case 'pause':
      return status === 'Running' ? undefined : 'Only a running VM can be paused.';
    case 'unpause':
      return status === 'Paused' ? undefined : 'It is not paused.';
    case 'migrate':
      if (status !== 'Running') return 'Only a running VM can be migrated.';
      return liveMigratable ? undefined : 'This VM does not support live migration.';
  }
}
