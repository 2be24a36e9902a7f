import { useQuery } from '@tanstack/react-query';
import { useId, useState } from 'react';
import { bulkReport, memberCount } from '../../bulk/bulk-report.js';
import { previewBulk } from '../../bulk/bulk-request.js';
import { useBulkTask } from '../../bulk/use-bulk-task.js';
import type { Instance } from '../../instances/instance.js';
import { isRunning } from '../../tasks/use-tasks.js';
import { countLabel, type BulkOperation, type ListKind } from '../list-kind.js';
import { plannedMembers } from '../planned-members.js';
import { BulkPlan } from './bulk-plan.js';
import { BulkProgress } from './bulk-progress.js';
import { BulkResults } from './bulk-results.js';

interface BulkDialogProps<E extends Instance> {
  kind: ListKind<E>;
  operation: BulkOperation<E>;
  members: readonly E[];
  onClose: () => void;
  /** Selects the failed instances for another operation. */
  onSelect: (refs: readonly string[]) => void;
}

/** One operation on many instances: the plan, the progress of its task, and the results by name. */
export function BulkDialog<E extends Instance>({ kind, operation, members, onClose, onSelect }: BulkDialogProps<E>) {
  // The plan does not change while the instances change their states.
  const [known] = useState(() => split(members, operation));
  const [text, setText] = useState('');
  const preview = useBulkPlan(operation, known.included);
  const planned = plannedMembers(known.included, preview.data);
  const { included } = planned;
  const refused = [...known.refused, ...planned.refused];
  const { task, isStarting, error, start, retry, stop } = useBulkTask();
  const title = `${operation.label}: ${countLabel(kind, included.length)}`;

  if (isStarting || (task && isRunning(task))) {
    const total = task?.bulk ? memberCount(task.bulk) : included.length;
    const left = task?.bulk ? task.bulk.counts.waiting + task.bulk.counts.running : total;
    return (
      <BulkProgress
        title={title}
        label={operation.label}
        finished={total - left}
        total={total}
        error={error}
        onStop={stop}
        onClose={onClose}
      />
    );
  }
  if (task)
    return (
      <BulkResults
        title={title}
        kind={kind}
        report={bulkReport(operation.label, task, refused.length)}
        error={error}
        onClose={onClose}
        onRetry={retry}
        onSelect={onSelect}
      />
    );
  return (
    <BulkPlan
      title={title}
      kind={kind}
      operation={operation}
      planned={{ ...planned, refused }}
      preview={preview}
      text={text}
      error={error}
      onText={setText}
      onRun={() =>
        start(
          operation.request(text),
          included.map(({ ref }) => ref),
        )
      }
      onClose={onClose}
    />
  );
}

/** The plan is requested once: the number that the user types must not change. */
function useBulkPlan<E extends Instance>({ request, input }: BulkOperation<E>, included: readonly E[]) {
  const id = useId();
  return useQuery({
    queryKey: ['bulk plan', id],
    queryFn: ({ signal }) =>
      previewBulk(
        request(''),
        included.map(({ ref }) => ref),
        signal,
      ),
    // A request that lacks its text can't be planned.
    enabled: input === undefined && included.length > 0,
    staleTime: Infinity,
    gcTime: 0,
  });
}

function split<E extends Instance>(members: readonly E[], { refusal }: BulkOperation<E>) {
  const verdicts = members.map((entry) => ({ entry, reason: refusal(entry) }));
  return {
    included: verdicts.filter(({ reason }) => reason === undefined).map(({ entry }) => entry),
    refused: verdicts.flatMap(({ entry, reason }) => (reason === undefined ? [] : [{ entry, reason }])),
  };
}
