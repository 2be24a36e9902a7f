import type { Container, ContainerPhase } from '@headgate/domain-contracts';
import type { InstanceObject } from '../api/incus-objects.js';
import { refOf, uidOf } from '../engine/api-names.js';
import { KEY, tagsOf } from '../engine/config-keys.js';
import { isMovedHere } from '../engine/operation-mark.js';
import { INCUS_TRAITS } from '../incus-traits.js';
import { cpusOf, memoryOf, type HostSize } from './limits.js';

export interface Host extends HostSize {
  /** Its name where the server is no cluster. */
  readonly name: string;
}

interface State {
  readonly phase: ContainerPhase;
  readonly ready: boolean;
  readonly reason?: string;
}

const STATES: Readonly<Record<string, State>> = {
  running: { phase: 'Running', ready: true },
  thawed: { phase: 'Running', ready: true },
  ready: { phase: 'Running', ready: true },
  stopped: { phase: 'Stopped', ready: false },
  starting: { phase: 'Pending', ready: false },
  stopping: { phase: 'Running', ready: false },
  aborting: { phase: 'Running', ready: false },
  freezing: { phase: 'Running', ready: false },
  frozen: { phase: 'Running', ready: false, reason: 'It is paused: start it to continue.' },
  error: {
    phase: 'Failed',
    ready: false,
    reason: 'The server reports an error; its log of the instance has the cause.',
  },
};
const MOVED_HERE: State = {
  phase: 'Pending',
  ready: false,
  reason: 'It is being moved here, and is not complete.',
};
const UNKNOWN: State = { phase: 'Unknown', ready: false };

/** The fingerprint of an image is shown as the tools of the engine show it. */
const SHORT_FINGERPRINT = 12;
/** The location on a server that is no cluster. */
const NO_LOCATION = 'none';

/** The member of the cluster on which an instance is; undefined on a server that is no cluster. */
export const memberOf = ({ location }: InstanceObject): string | undefined =>
  location === NO_LOCATION || location === '' ? undefined : location;

export function toContainer(context: string, instance: InstanceObject, host: Host): Container {
  const { config, expanded_config: expanded, created_at: createdAt } = instance;
  const { phase, ready, reason } = isMovedHere(instance)
    ? MOVED_HERE
    : (STATES[instance.status.toLowerCase()] ?? UNKNOWN);
  const node = memberOf(instance) ?? host.name;
  return {
    ref: { ...refOf(context, instance), kind: 'ct' },
    backend: INCUS_TRAITS.kind,
    uid: uidOf(instance),
    phase,
    ready,
    image: imageOf(instance),
    cpu: cpusOf(expanded['limits.cpu'], host),
    memoryBytes: memoryOf(expanded['limits.memory'], host),
    privileged: expanded['security.privileged'] === 'true',
    tags: tagsOf(config),
    createdAt: new Date(createdAt).toISOString(),
    ...(phase === 'Stopped' ? {} : { node }),
    ...(reason === undefined ? {} : { reason }),
  };
}

function imageOf({ config }: InstanceObject): string {
  const found = config[KEY.image] ?? config['image.description'];
  if (found !== undefined && found !== '') return found;
  return config['volatile.base_image']?.slice(0, SHORT_FINGERPRINT) ?? '';
}
