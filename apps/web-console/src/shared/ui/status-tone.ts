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
  Running: { tone: 'success', icon: 'dot', words: 'Running' },
  Stopped: { tone: 'neutral', icon: 'ring', words: 'Stopped' },
  Succeeded: { tone: 'neutral', icon: 'ring', words: 'Ended' },
  Paused: { tone: 'neutral', icon: 'bars', words: 'Paused' },
  Provisioning: { tone: 'progress', icon: 'arc', words: 'Preparing disk' },
  Starting: { tone: 'progress', icon: 'arc', words: 'Starting' },
  Stopping: { tone: 'progress', icon: 'arc', words: 'Stopping' },
  Terminating: { tone: 'progress', icon: 'arc', words: 'Deleting' },
  Migrating: { tone: 'progress', icon: 'arc', words: 'Moving' },
  Pending: { tone: 'progress', icon: 'arc', words: 'Starting' },
  WaitingForReceiver: { tone: 'progress', icon: 'arc', words: 'Waits for its source' },
  WaitingForVolumeBinding: { tone: 'warning', icon: 'triangle', words: 'Waits for storage' },
  Unknown: { tone: 'neutral', icon: 'dotted', words: 'Unknown' },
  CrashLoopBackOff: { tone: 'danger', icon: 'diamond', words: 'Keeps crashing' },
  ErrorUnschedulable: { tone: 'danger', icon: 'diamond', words: 'No node fits' },
  ErrImagePull: { tone: 'danger', icon: 'diamond', words: 'Image not found' },
  ImagePullBackOff: { tone: 'danger', icon: 'diamond', words: 'Image not found' },
  ErrorPvcNotFound: { tone: 'danger', icon: 'diamond', words: 'Disk missing' },
  DataVolumeError: { tone: 'danger', icon: 'diamond', words: 'Disk failed' },
  Failed: { tone: 'danger', icon: 'diamond', words: 'Failed' },
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
