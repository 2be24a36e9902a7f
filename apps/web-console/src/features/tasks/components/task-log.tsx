import { t } from '@lingui/core/macro';
import { useLayoutEffect, useRef } from 'react';
import { useTaskLog } from '../use-task-log.js';

/** The log of a task, which grows while it runs. It follows the last line unless the user has scrolled up. */
export function TaskLog({ id }: { id: string }) {
  const { text, isLive, hasFailed } = useTaskLog(id);
  const box = useRef<HTMLPreElement>(null);
  const isAtEnd = useRef(true);
  useLayoutEffect(() => {
    if (box.current && isAtEnd.current) box.current.scrollTop = box.current.scrollHeight;
  }, [text]);

  return (
    <>
      <pre
        ref={box}
        className="hg-log"
        tabIndex={0}
        aria-label={t`Log`}
        onScroll={({ currentTarget: { scrollHeight, scrollTop, clientHeight } }) => {
          isAtEnd.current = scrollHeight - scrollTop - clientHeight < 8;
        }}
      >
        {text === '' && !isLive ? t`No log entries` : text}
      </pre>
      {hasFailed && <p className="hg-note">{t`The connection was lost. Retrying automatically`}</p>}
    </>
  );
}
