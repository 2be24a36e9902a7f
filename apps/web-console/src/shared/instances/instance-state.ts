import { t } from '@lingui/core/macro';
import { statusCode, statusTitle, toneOf, type StatusWording } from '../ui/status-tone.js';
import { isVm, statusOf, type Instance, type InstanceStatus } from './instance.js';

/** These end with a disk or a guest that is complete, so that their progress is that of a task. */
const WITH_PROGRESS: readonly InstanceStatus[] = ['Provisioning', 'Migrating'];

/**
 * How the state of an instance is shown. Of an instance whose context is unreachable, only the last state is known.
 * @param progress of the task that uses it, from 0 to 1
 */
export function instanceState(instance: Instance, progress?: number): StatusWording {
  const status = statusOf(instance);
  const wording = toneOf(status);
  const words = status === 'Stopped' && isVm(instance) && instance.isTemplate ? t`Template` : wording.words;
  if (instance.stale === true)
    return { ...toneOf('Unknown'), words: t`Unknown · was ${words}`, brief: t`Was ${words}` };
  if (progress === undefined || !WITH_PROGRESS.includes(status)) return { ...wording, words };
  return { ...wording, words: `${words}, ${Math.round(progress * 100)}%` };
}

/** The words of an instance's state, such as "Preparing disk". */
export const stateWords = (instance: Instance): string => instanceState(instance).words;

/** The reason, and the status of the API for search engines. */
export function stateTitle(instance: Instance): string | undefined {
  const status = statusOf(instance);
  const reason = [instance.reason, instance.stale && t`The context is unreachable.`].filter(Boolean).join(' ');
  if (reason === '') return statusTitle(status);
  const code = instance.stale ? undefined : statusCode(status);
  return code === undefined ? t`Reason: ${reason}` : t`Reason: ${reason} (${code})`;
}
