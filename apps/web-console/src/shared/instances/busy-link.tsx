import { t } from '@lingui/core/macro';
import { paths } from '../location/paths.js';
import { busySentence, busyWord } from './busy.js';
import { statusOf, type Instance } from './instance.js';

/**
 * The operation of the task that uses an instance, next to its status. It links to the task. Without hooks, because
 * rows of lists show it.
 */
export function BusyLink({ instance, inRow = false }: { instance: Instance; inRow?: boolean }) {
  const { busy, name } = instance;
  if (!busy) return null;
  return (
    <a
      href={`#${paths.task(busy.task)}`}
      className="hg-busy"
      tabIndex={inRow ? -1 : undefined}
      title={t`${busySentence(name, busy)} Show the task.`}
    >
      {busyText(instance)}
    </a>
  );
}

/** A status and an operation of one name are shown once. */
export function busyText(instance: Instance): string {
  const word = busyWord(instance) ?? '';
  return word === statusOf(instance) ? t`Task` : word;
}
