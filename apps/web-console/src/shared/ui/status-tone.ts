import type { ContainerView, VmView } from '@headgate/api-contracts';
import type { IconName } from '../../icons.js';

export type { IconName } from '../../icons.js';
export type VmStatus = VmView['status'];
export type ContainerPhase = ContainerView['phase'];
export type Status = VmStatus | ContainerPhase;

/** `progress` changes on its own, `warning` waits for the user, `danger` needs attention. */
export type StatusTone = 'success' | 'neutral' | 'progress' | 'warning' | 'danger';

/** How a status is shown: a shape, a color and words. */
export interface StatusWording {
  readonly tone: StatusTone;
  readonly icon: IconName;
  readonly words: string;
  /** In a narrow column, if the words are too long for it. */
  readonly brief?: string;
}

/** The words of state, of VMs and containers. Nothing else in the console shows a status of the API. */
const WORDING: Readonly<Record<Status, StatusWording>> = {
  Running: { tone: 'success', icon: 'play', words: 'Running' },
  Stopped: { tone: 'neutral', icon: 'off', words: 'Stopped' },
  Succeeded: { tone: 'neutral', icon: 'check', words: 'Ended' },
  Paused: { tone: 'neutral', icon: 'pause', words: 'Paused' },
  Provisioning: { tone: 'progress', icon: 'hourglass', words: 'Preparing disk' },
  Starting: { tone: 'progress', icon: 'hourglass', words: 'Starting' },
  Stopping: { tone: 'progress', icon: 'hourglass', words: 'Stopping' },
  Terminating: { tone: 'progress', icon: 'trash', words: 'Deleting' },
  Migrating: { tone: 'progress', icon: 'migrate', words: 'Moving' },
  Pending: { tone: 'progress', icon: 'hourglass', words: 'Starting' },
  WaitingForReceiver: { tone: 'progress', icon: 'hourglass', words: 'Waits for its source' },
  WaitingForVolumeBinding: { tone: 'warning', icon: 'alert', words: 'Waits for storage' },
  Unknown: { tone: 'neutral', icon: 'unknown', words: 'Unknown' },
  CrashLoopBackOff: { tone: 'danger', icon: 'error', words: 'Keeps crashing' },
  ErrorUnschedulable: { tone: 'danger', icon: 'error', words: 'No node fits' },
  ErrImagePull: { tone: 'danger', icon: 'error', words: 'Image not found' },
  ImagePullBackOff: { tone: 'danger', icon: 'error', words: 'Image not found' },
  ErrorPvcNotFound: { tone: 'danger', icon: 'error', words: 'Disk missing' },
  DataVolumeError: { tone: 'danger', icon: 'error', words: 'Disk failed' },
  Failed: { tone: 'danger', icon: 'error', words: 'Failed' },
};

/** Every status and phase that the console knows. */
export const STATUSES = Object.keys(WORDING) as Status[];

/** A status that only a newer service knows is shown as it is, with a question mark. */
export const toneOf = (status: Status): StatusWording => WORDING[status] ?? { ...WORDING.Unknown, words: status };

/** A status in words, such as "Keeps crashing" for `CrashLoopBackOff`. */
export const statusWords = (status: Status): string => toneOf(status).words;

/** The status of the API, for search engines; undefined where its words are the same or no problem is shown. */
export const statusCode = (status: Status): string | undefined => {
  const { tone, words } = toneOf(status);
  return words === status || tone === 'neutral' || tone === 'success' ? undefined : status;
};
