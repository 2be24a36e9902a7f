import { useMutation } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import type { Instance } from '../instances/instance.js';
import { useNotify } from '../ui/notifications.js';
import { bulkReport } from './bulk-report.js';
import type { BulkOperation } from './list-kind.js';
import { runForAll } from './run-for-all.js';

/** Runs an operation on many. When nobody waits any more, a notice says how it went. */
export function useBulkRun<E extends Instance>(operation: BulkOperation<E>, left: number) {
  const notify = useNotify();
  const [finished, setFinished] = useState(0);
  const stop = useRef(new AbortController());
  const watched = useRef(true);
  useEffect(() => {
    watched.current = true;
    return () => {
      watched.current = false;
    };
  }, []);

  const run = useMutation({
    mutationFn: async ({ members, text }: { members: readonly E[]; text: string }) => {
      setFinished(0);
      stop.current = new AbortController();
      const { signal } = stop.current;
      const run = (entry: E): Promise<unknown> => operation.run(entry, text);
      const results = await runForAll(members, run, { onProgress: setFinished, signal });
      const report = bulkReport(operation.label, results, left + members.length - results.length);
      if (!watched.current) {
        const { failed, summary } = report;
        notify(
          failed.length === 0
            ? { variant: 'success', title: `${operation.label}: ${summary}` }
            : { variant: 'danger', title: `${operation.label}: ${summary}`, copy: report.text },
        );
      }
      return report;
    },
  });
  return { ...run, finished, stop: () => stop.current.abort() };
}
