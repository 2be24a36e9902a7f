import { useMutation } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import type { Instance } from '../instances/instance.js';
import { useCopyText } from '../ui/copy.js';
import { useNotify } from '../ui/notifications.js';
import { bulkReport } from './bulk-report.js';
import type { BulkOperation } from './list-kind.js';
import { runForAll } from './run-for-all.js';

/** Runs an operation on many instances. If its dialog was closed meanwhile, a notice reports the result. */
export function useBulkRun<E extends Instance>(operation: BulkOperation<E>, skipped: number) {
  const notify = useNotify();
  const copyText = useCopyText();
  const [finished, setFinished] = useState(0);
  const stop = useRef(new AbortController());
  const isWatched = useRef(true);
  useEffect(() => {
    isWatched.current = true;
    return () => {
      isWatched.current = false;
    };
  }, []);

  const run = useMutation({
    mutationFn: async ({ members, text }: { members: readonly E[]; text: string }) => {
      setFinished(0);
      stop.current = new AbortController();
      const { signal } = stop.current;
      const run = (entry: E): Promise<unknown> => operation.run(entry, text);
      const results = await runForAll(members, run, { onProgress: setFinished, signal });
      const report = bulkReport(operation.label, results, skipped + members.length - results.length);
      if (!isWatched.current) {
        const { failed, summary } = report;
        notify(
          failed.length === 0
            ? { variant: 'success', title: `${operation.label}: ${summary}` }
            : {
                variant: 'danger',
                title: `${operation.label}: ${summary}`,
                action: { label: 'Copy report', run: () => void copyText(report.text) },
              },
        );
      }
      return report;
    },
  });
  return { ...run, finished, stop: () => stop.current.abort() };
}
