import type { IconName } from '../../icons.js';
import { isVm, type Instance } from '../instances/instance.js';
import type { PowerAction } from './power-actions.js';

export interface PowerWording {
  readonly label: string;
  readonly icon: IconName;
  /** What is said once it was accepted. */
  readonly done: string;
  /** What it costs whoever uses the guest, where it costs something: it is asked before. */
  readonly cost?: string;
}

export const VM_POWER: Readonly<Record<PowerAction, PowerWording>> = {
  start: { label: 'Start', icon: 'play', done: 'is starting' },
  stop: {
    label: 'Shut down',
    icon: 'power',
    done: 'was asked to shut down',
    cost: 'The guest is asked to shut down. Whoever uses it loses it.',
  },
  'force-stop': {
    label: 'Force stop',
    icon: 'plug',
    done: 'was switched off',
    cost: 'This pulls the plug: the guest has no chance to write what it still holds in memory. «Shut down» asks it instead.',
  },
  restart: {
    label: 'Restart',
    icon: 'restart',
    done: 'is restarting',
    cost: 'The guest is asked to restart. Whoever uses it loses it for a while.',
  },
  pause: { label: 'Pause', icon: 'pause', done: 'is paused' },
  unpause: { label: 'Resume', icon: 'play', done: 'goes on' },
};

/** Nobody presses a container's power button: its processes end. */
export const CONTAINER_POWER = {
  start: VM_POWER.start,
  stop: {
    label: 'Stop',
    icon: 'power',
    done: 'is stopping',
    cost: 'Its processes are ended. Its data volume stays.',
  },
} as const satisfies Partial<Record<PowerAction, PowerWording>>;

export const powerWording = (instance: Instance, action: PowerAction): PowerWording =>
  !isVm(instance) && (action === 'start' || action === 'stop') ? CONTAINER_POWER[action] : VM_POWER[action];
