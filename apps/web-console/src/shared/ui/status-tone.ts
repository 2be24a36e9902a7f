import { t } from '@lingui/core/macro';
import type { ContainerView, VmView } from '@headgate/api-contracts';
import type { IconName } from '../../icons.js';
import { perLanguage } from '../texts/per-language.js';

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
const wording = perLanguage((): Readonly<Record<Status, StatusWording>> => ({
  Running: { tone: 'success', icon: 'dot', words: t`Running` },
  Stopped: { tone: 'neutral', icon: 'ring', words: t`Stopped` },
  Succeeded: { tone: 'neutral', icon: 'ring', words: t`Ended` },
  Paused: { tone: 'neutral', icon: 'bars', words: t`Paused` },
  Provisioning: { tone: 'progress', icon: 'arc', words: t`Preparing disk` },
  Starting: { tone: 'progress', icon: 'arc', words: t`Starting` },
  Stopping: { tone: 'progress', icon: 'arc', words: t`Stopping` },
  Terminating: { tone: 'progress', icon: 'arc', words: t`Deleting` },
  Migrating: { tone: 'progress', icon: 'arc', words: t`Moving` },
  Pending: { tone: 'progress', icon: 'arc', words: t`Starting` },
  WaitingForReceiver: { tone: 'progress', icon: 'arc', words: t`Waits for its source` },
  WaitingForVolumeBinding: { tone: 'warning', icon: 'triangle', words: t`Waits for storage` },
  Unknown: { tone: 'neutral', icon: 'dotted', words: t`Unknown` },
  CrashLoopBackOff: { tone: 'danger', icon: 'diamond', words: t`Keeps crashing` },
  ErrorUnschedulable: { tone: 'danger', icon: 'diamond', words: t`No node fits` },
  ErrImagePull: { tone: 'danger', icon: 'diamond', words: t`Image not found` },
  ImagePullBackOff: { tone: 'danger', icon: 'diamond', words: t`Image not found` },
  ErrorPvcNotFound: { tone: 'danger', icon: 'diamond', words: t`Disk missing` },
  DataVolumeError: { tone: 'danger', icon: 'diamond', words: t`Disk failed` },
  Failed: { tone: 'danger', icon: 'diamond', words: t`Failed` },
}));

/** Every status and phase that the console knows. */
export const statuses = perLanguage(() => Object.keys(wording()) as Status[]);

/** A status that only a newer service knows is shown as it is, with a question mark. */
export const toneOf = (status: Status): StatusWording => wording()[status] ?? { ...wording().Unknown, words: status };

/** A status in words, such as "Keeps crashing" for `CrashLoopBackOff`. */
export const statusWords = (status: Status): string => toneOf(status).words;

/** The status of the API, for search engines; undefined where its words are the same or no problem is shown. */
export const statusCode = (status: Status): string | undefined => {
  const { tone, words } = toneOf(status);
  return words === status || tone === 'neutral' || tone === 'success' ? undefined : status;
};

/** The tooltip of a status in words: the status of the API, where it differs. */
export function statusTitle(status: Status): string | undefined {
  const code = statusCode(status);
  return code && t`Status: ${code}`;
}
