import type { IconName } from '../../icons.js';
import { isVm, type Instance } from '../instances/instance.js';
import type { PowerAction } from './power-actions.js';

export interface PowerWording {
  readonly label: string;
  readonly icon: IconName;
  /** What happens to the instance once the action was accepted, after its name. */
  readonly done: string;
  /** What the action means for the users of the guest. Every action that needs a confirmation has it. */
  readonly consequence?: string;
}

export const VM_POWER: Readonly<Record<PowerAction, PowerWording>> = {
  start: { label: 'Start', icon: 'play', done: 'is starting' },
  stop: {
    label: 'Shut down',
    icon: 'power',
    done: 'is shutting down',
    consequence: 'The guest operating system is asked to shut down. Users of the VM will be disconnected.',
  },
  'force-stop': {
    label: 'Force stop',
    icon: 'plug',
    done: 'was powered off',
    consequence:
      'This is like pulling the plug: data that the guest has not written to disk is lost. Use "Shut down" to stop the VM cleanly.',
  },
  restart: {
    label: 'Restart',
    icon: 'restart',
    done: 'is restarting',
    consequence:
      'The guest operating system is asked to restart. Users of the VM will be disconnected until it is back.',
  },
  pause: {
    label: 'Pause',
    icon: 'pause',
    done: 'is paused',
    consequence: 'The guest is frozen and does not respond until it is resumed. Its memory is kept.',
  },
  unpause: { label: 'Resume', icon: 'play', done: 'is running again' },
};

export const CONTAINER_POWER = {
  start: VM_POWER.start,
  stop: {
    label: 'Stop',
    icon: 'power',
    done: 'is stopping',
    consequence: 'The processes of the container are ended. Its data volume is kept.',
  },
} as const satisfies Partial<Record<PowerAction, PowerWording>>;

export const powerWording = (instance: Instance, action: PowerAction): PowerWording =>
  !isVm(instance) && (action === 'start' || action === 'stop') ? CONTAINER_POWER[action] : VM_POWER[action];
