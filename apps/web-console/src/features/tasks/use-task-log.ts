import { useEffect, useState } from 'react';
import type { TaskStreamEvents } from '@headgate/api-contracts';
import { TaskLogText } from './task-log-text.js';

const RETRY_MS = 2_000;

interface LogState {
  readonly text: string;
  /** Whether the task still runs, or is not known yet. */
  readonly isLive: boolean;
  readonly hasFailed: boolean;
}

/** Follows the log of a task with its event stream until the task ends. */
export function useTaskLog(id: string): LogState {
  const [state, setState] = useState<LogState>({ text: '', isLive: true, hasFailed: false });
  useEffect(() => {
    const log = new TaskLogText();
    let retry: ReturnType<typeof setTimeout> | undefined;
    let source: EventSource | undefined;
    let position = '';

    const open = (): void => {
      // A new EventSource can't send the header Last-Event-ID, so the position is in the query.
      const query = position === '' ? '' : `?lastEventId=${encodeURIComponent(position)}`;
      const opened = new EventSource(`/api/tasks/${encodeURIComponent(id)}${query}`);
      source = opened;
      const on = <E extends keyof TaskStreamEvents>(event: E, handle: (data: TaskStreamEvents[E]) => boolean): void =>
        opened.addEventListener(event, (message) => {
          const { data, lastEventId } = message as MessageEvent<string>;
          if (lastEventId !== '') position = lastEventId;
          const isLive = handle(JSON.parse(data) as TaskStreamEvents[E]);
          // The stream ends with the task, and the browser would open it again.
          if (!isLive) opened.close();
          setState({ text: log.text, isLive, hasFailed: false });
        });
      on('snapshot', (task) => {
        log.replace(task);
        return task.status === 'running';
      });
      on('log', (part) => {
        log.append(part);
        return true;
      });
      on('changed', ({ status }) => status === 'running');
      opened.onerror = () => {
        if (source !== opened) return;
        opened.close();
        setState((before) => ({ ...before, hasFailed: true }));
        retry = setTimeout(open, RETRY_MS);
      };
    };
    open();
    return () => {
      clearTimeout(retry);
      source?.close();
      source = undefined;
    };
  }, [id]);
  return state;
}
