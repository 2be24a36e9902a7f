import type { ContainerView, VmView, WhoamiView } from '@headgate/api-contracts';
import { isVm, type Instance } from '../instances/instance.js';
import { lackOf, type ContextAbilities } from '../queries/use-capabilities.js';
import { readOnlyReason } from '../queries/use-whoami.js';

export const POWER_ACTIONS = ['start', 'stop', 'restart', 'force-stop', 'pause', 'unpause'] as const;
export type PowerAction = (typeof POWER_ACTIONS)[number];
export type InstanceAction = PowerAction | 'migrate' | 'tag' | 'delete';

export interface PowerSurroundings {
  readonly context?: ContextAbilities | undefined;
  readonly whoami?: WhoamiView | undefined;
}

/** Why an action makes no sense right now, as a sentence; undefined when it may be tried. The service decides. */
export function actionRefusal(
  action: InstanceAction,
  instance: Instance,
  { context, whoami }: PowerSurroundings = {},
): string | undefined {
  return (
    readOnlyReason(whoami) ??
    (instance.stale || context?.up === false ? `The context ${instance.context} can't be reached.` : undefined) ??
    lackOf(context, isVm(instance) ? ABILITY[action] : 'containers') ??
    (isVm(instance) ? stateRefusal(action, instance) : containerRefusal(action, instance))
  );
}

function containerRefusal(action: InstanceAction, { phase }: ContainerView): string | undefined {
  if (action === 'delete') return undefined;
  if (action === 'start') return phase === 'Stopped' ? undefined : 'It is not stopped.';
  if (action === 'stop') return phase === 'Stopped' ? 'It is stopped already.' : undefined;
  return 'Containers have no such thing.';
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

const NO_GUEST = ['Stopped', 'Provisioning', 'WaitingForVolumeBinding', 'Terminating'];

function stateRefusal(action: InstanceAction, { status, liveMigratable }: VmView): string | undefined {
  if (status === 'Terminating') return 'It is being deleted.';
  if (action === 'delete' || action === 'tag') return undefined;
  if (status === 'Provisioning') return 'Its disk is still being made.';
  const hasGuest = !NO_GUEST.includes(status);
  switch (action) {
    case 'start':
      return hasGuest ? `It is not stopped but ${status}.` : undefined;
    case 'stop':
      if (!hasGuest) return 'It is stopped already.';
      return status === 'Stopping' ? 'It is shutting down already.' : undefined;
    case 'force-stop':
      return hasGuest ? undefined : 'It is stopped already.';
    case 'restart':
      return hasGuest && status !== 'Stopping' ? undefined : 'Only a running instance can be restarted.';
    case 'pause':
      return status === 'Running' ? undefined : 'Only a running instance can be paused.';
    case 'unpause':
      return status === 'Paused' ? undefined : 'It is not paused.';
    case 'migrate':
      if (status !== 'Running') return 'Only a running instance can migrate.';
      return liveMigratable ? undefined : 'This instance is not live-migratable.';
  }
}
