import type { ContainerView } from '@headgate/api-contracts';
import type { Action } from './action.js';
import { instanceRequest } from './api-request.js';

/** All actions on a container, in the order of its menu. */
export const CONTAINER_ACTIONS = {
  start: {
    id: 'start',
    label: 'Start',
    icon: 'play',
    effect: 'none',
    ability: 'containers',
    refusal: ({ phase }) => (phase === 'Stopped' ? undefined : 'It is not stopped.'),
    request: (ct) => instanceRequest('cts', ct, 'start'),
    done: 'is starting',
    inverse: 'stop',
    bulk: { request: () => ({ action: 'start' }), inverse: 'stop' },
  },
  stop: {
    id: 'stop',
    label: 'Stop',
    icon: 'power',
    effect: 'interrupts',
    ability: 'containers',
    refusal: ({ phase }) => (phase === 'Stopped' ? 'It is already stopped.' : undefined),
    request: (ct) => instanceRequest('cts', ct, 'stop'),
    done: 'is stopping',
    consequence: 'The processes of the container are ended. Its data volume is kept.',
    inverse: 'start',
    bulk: {
      request: () => ({ action: 'stop' }),
      warning: 'The processes of the containers are ended. Their data volumes are kept.',
      inverse: 'start',
    },
  },
  delete: {
    id: 'delete',
    label: 'Delete',
    icon: 'trash',
    effect: 'destroys',
    ability: 'containers',
    refusal: () => undefined,
    request: (ct) => instanceRequest('cts', ct, undefined),
    done: 'was deleted',
    consequence: 'Its data volume is deleted with it.',
    bulk: { request: () => ({ action: 'delete' }), warning: 'Their data volumes are deleted too.' },
  },
} as const satisfies Readonly<Record<'start' | 'stop' | 'delete', Action<ContainerView>>>;
