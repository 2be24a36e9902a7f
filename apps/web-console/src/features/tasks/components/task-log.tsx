import { t } from '@lingui/core/macro';
import { useFollowEnd } from '../../../shared/ui/use-follow-end.js';
import { useTaskLog } from '../use-task-log.js';

/** The log of a task, which grows while it runs. It follows the last line unless the user has scrolled up. */
export function TaskLog({ id }: { id: string }) {
  const { text, isLive, hasFailed } = useTaskLog(id);
  const followed = useFollowEnd<HTMLPreElement>(text);

  return (
    <>
      <pre className="hg-log" tabIndex={0} aria-label={t`Log`} {...followed}>
        {text === '' && !isLive ? t`No log entries` : text}
      </pre>
      {hasFailed && <p className="hg-note">{t`The connection was lost. Retrying automatically`}</p>}
    </>
  );
}
