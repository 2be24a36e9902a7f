import { useMutation } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { useTrackTask } from '../tasks/track-task.js';
import { isRunning, useTask } from '../tasks/use-tasks.js';
import { cancelBulk, retryBulk, startBulk, type BulkRequest } from './bulk-request.js';

/** Starts a bulk task and follows it. If its dialog was closed before the end, a notice reports the result. */
export function useBulkTask() {
  const trackTask = useTrackTask();
  const [id, setId] = useState<string>();
  const { data: task, error: readError } = useTask(id);
  const isWatched = useRef(true);
  const begun = useMutation({
    mutationFn: (begin: () => Promise<string>) => begin(),
    onSuccess: (task) => (isWatched.current ? setId(task) : trackTask(task)),
  });
  const canceled = useMutation({ mutationFn: cancelBulk });

  const open = useRef<string>(undefined);
  open.current = id !== undefined && (!task || isRunning(task)) ? id : undefined;
  useEffect(() => {
    isWatched.current = true;
    return () => {
      isWatched.current = false;
      if (open.current !== undefined) trackTask(open.current);
    };
  }, [trackTask]);
  return {
    task,
    isStarting: begun.isPending || (id !== undefined && !task && !readError),
    error: begun.error ?? readError ?? canceled.error,
    start: (request: BulkRequest, refs: readonly string[]) => begun.mutate(() => startBulk(request, refs)),
    retry: () => id !== undefined && begun.mutate(() => retryBulk(id)),
    stop: () => id !== undefined && canceled.mutate(id),
  };
}
