import type { ContainerView, VmView } from '@headgate/api-contracts';
import type { IconName } from '../../icons.js';

export type { IconName } from '../../icons.js';
export type VmStatus = VmView['status'];
export type ContainerPhase = ContainerView['phase'];

/** `good` runs, `off` rests, `busy` is on its way, `held` waits for somebody, `bad` needs somebody. */
export type StatusTone = 'good' | 'off' | 'busy' | 'held' | 'bad';

const TONES: Readonly<Record<VmStatus | ContainerPhase, { tone: StatusTone; icon: IconName }>> = {
  Running: { tone: 'good', icon: 'play' },
  Stopped: { tone: 'off', icon: 'off' },
  Succeeded: { tone: 'off', icon: 'check' },
  Paused: { tone: 'held', icon: 'pause' },
  Provisioning: { tone: 'busy', icon: 'hourglass' },
  Starting: { tone: 'busy', icon: 'hourglass' },
  Stopping: { tone: 'busy', icon: 'hourglass' },
  Terminating: { tone: 'busy', icon: 'trash' },
  Migrating: { tone: 'busy', icon: 'migrate' },
  Pending: { tone: 'busy', icon: 'hourglass' },
  WaitingForVolumeBinding: { tone: 'busy', icon: 'hourglass' },
  WaitingForReceiver: { tone: 'busy', icon: 'hourglass' },
  Unknown: { tone: 'held', icon: 'unknown' },
  CrashLoopBackOff: { tone: 'bad', icon: 'error' },
  ErrorUnschedulable: { tone: 'bad', icon: 'error' },
  ErrImagePull: { tone: 'bad', icon: 'error' },
  ImagePullBackOff: { tone: 'bad', icon: 'error' },
  ErrorPvcNotFound: { tone: 'bad', icon: 'error' },
  DataVolumeError: { tone: 'bad', icon: 'error' },
  Failed: { tone: 'bad', icon: 'error' },
};

/** A status that a newer service knows and this page does not is shown, with a question mark. */
export const toneOf = (status: VmStatus | ContainerPhase): { tone: StatusTone; icon: IconName } =>
  TONES[status] ?? TONES.Unknown;
