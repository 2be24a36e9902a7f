import type { ContainerView, VmView } from '@headgate/api-contracts';
import type { IconName } from '../../icons.js';

export type { IconName } from '../../icons.js';
export type VmStatus = VmView['status'];
export type ContainerPhase = ContainerView['phase'];

/** `progress` changes on its own, `warning` waits for the user, `danger` needs attention. */
export type StatusTone = 'success' | 'neutral' | 'progress' | 'warning' | 'danger';

const TONES: Readonly<Record<VmStatus | ContainerPhase, { tone: StatusTone; icon: IconName }>> = {
  Running: { tone: 'success', icon: 'play' },
  Stopped: { tone: 'neutral', icon: 'off' },
  Succeeded: { tone: 'neutral', icon: 'check' },
  Paused: { tone: 'warning', icon: 'pause' },
  Provisioning: { tone: 'progress', icon: 'hourglass' },
  Starting: { tone: 'progress', icon: 'hourglass' },
  Stopping: { tone: 'progress', icon: 'hourglass' },
  Terminating: { tone: 'progress', icon: 'trash' },
  Migrating: { tone: 'progress', icon: 'migrate' },
  Pending: { tone: 'progress', icon: 'hourglass' },
  WaitingForVolumeBinding: { tone: 'progress', icon: 'hourglass' },
  WaitingForReceiver: { tone: 'progress', icon: 'hourglass' },
  Unknown: { tone: 'warning', icon: 'unknown' },
  CrashLoopBackOff: { tone: 'danger', icon: 'error' },
  ErrorUnschedulable: { tone: 'danger', icon: 'error' },
  ErrImagePull: { tone: 'danger', icon: 'error' },
  ImagePullBackOff: { tone: 'danger', icon: 'error' },
  ErrorPvcNotFound: { tone: 'danger', icon: 'error' },
  DataVolumeError: { tone: 'danger', icon: 'error' },
  Failed: { tone: 'danger', icon: 'error' },
};

/** A status that only a newer service knows is shown with a question mark. */
export const toneOf = (status: VmStatus | ContainerPhase): { tone: StatusTone; icon: IconName } =>
  TONES[status] ?? TONES.Unknown;
