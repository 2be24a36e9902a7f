import { useState } from 'react';
import type { Instance } from '../../instances/instance.js';
import { countLabel, type BulkOperation, type ListKind } from '../list-kind.js';
import { useBulkRun } from '../use-bulk-run.js';
import { BulkPlan } from './bulk-plan.js';
import { BulkProgress } from './bulk-progress.js';
import { BulkResults } from './bulk-results.js';

interface BulkDialogProps<E extends Instance> {
  kind: ListKind<E>;
  operation: BulkOperation<E>;
  members: readonly E[];
  onClose: () => void;
  /** Selects the failed instances for another operation. */
  onSelect: (failed: readonly E[]) => void;
}

/** One operation on many instances: the plan, the progress, and the results by name. */
export function BulkDialog<E extends Instance>({ kind, operation, members, onClose, onSelect }: BulkDialogProps<E>) {
  // The plan does not change while the instances change their states.
  const [{ included, refused }] = useState(() => split(members, operation));
  const [text, setText] = useState('');
  const { mutate, data: report, isPending, variables, finished, stop } = useBulkRun(operation, refused.length);
  const title = `${operation.label}: ${countLabel(kind, included.length)}`;

  if (isPending)
    return (
      <BulkProgress
        title={title}
        label={operation.label}
        finished={finished}
        total={variables.members.length}
        onStop={stop}
        onClose={onClose}
      />
    );
  if (report)
    return (
      <BulkResults
        title={title}
        kind={kind}
        report={report}
        onClose={onClose}
        onRetry={(failed) => mutate({ members: failed, text })}
        onSelect={onSelect}
      />
    );
  return (
    <BulkPlan
      title={title}
      kind={kind}
      operation={operation}
      included={included}
      refused={refused}
      text={text}
      onText={setText}
      onRun={() => mutate({ members: included, text })}
      onClose={onClose}
    />
  );
}

function split<E extends Instance>(members: readonly E[], { refusal }: BulkOperation<E>) {
  const verdicts = members.map((entry) => ({ entry, reason: refusal(entry) }));
  return {
    included: verdicts.filter(({ reason }) => reason === undefined).map(({ entry }) => entry),
    refused: verdicts.flatMap(({ entry, reason }) => (reason === undefined ? [] : [{ entry, reason }])),
  };
}
