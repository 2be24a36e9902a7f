import { Modal, ModalBody, ModalHeader, Progress } from '@patternfly/react-core';
import { useState } from 'react';
import type { Instance } from '../../instances/instance.js';
import { countOf, type BulkOperation, type ListKind } from '../list-kind.js';
import { useBulkRun } from '../use-bulk-run.js';
import { BulkPlan } from './bulk-plan.js';
import { BulkResults } from './bulk-results.js';

interface BulkDialogProps<E extends Instance> {
  kind: ListKind<E>;
  operation: BulkOperation<E>;
  members: readonly E[];
  onClose: () => void;
  /** Goes on with those that failed. */
  onSelect: (failed: readonly E[]) => void;
}

/** One operation on many instances: who takes part and who does not, how far it is, and by name what failed. */
export function BulkDialog<E extends Instance>({ kind, operation, members, onClose, onSelect }: BulkDialogProps<E>) {
  // What was decided on stays as it was, while the instances change their states under it.
  const [{ able, refused }] = useState(() => split(members, operation));
  const [text, setText] = useState('');
  const { mutate, data: report, isPending, variables, finished, stop } = useBulkRun(operation, refused.length);
  const running = variables?.members.length ?? 0;

  return (
    <Modal isOpen variant="small" onClose={onClose} aria-labelledby="bulk-title">
      <ModalHeader title={`${operation.label}: ${countOf(kind, able.length)}`} labelId="bulk-title" />
      {isPending && (
        <ModalBody>
          <Progress
            aria-label={operation.label}
            value={(100 * finished) / Math.max(1, running)}
            title={`${finished.toLocaleString('en')} of ${running.toLocaleString('en')}`}
          />
        </ModalBody>
      )}
      {!isPending && report ? (
        <BulkResults
          kind={kind}
          report={report}
          onClose={onClose}
          onRetry={(failed) => mutate({ members: failed, text })}
          onSelect={onSelect}
        />
      ) : (
        <BulkPlan
          kind={kind}
          operation={operation}
          able={able}
          refused={refused}
          text={text}
          onText={setText}
          isRunning={isPending}
          onRun={() => mutate({ members: able, text })}
          onStop={stop}
          onClose={onClose}
        />
      )}
    </Modal>
  );
}

function split<E extends Instance>(members: readonly E[], { refusal }: BulkOperation<E>) {
  const verdicts = members.map((entry) => ({ entry, reason: refusal(entry) }));
  return {
    able: verdicts.filter(({ reason }) => reason === undefined).map(({ entry }) => entry),
    refused: verdicts.flatMap(({ entry, reason }) => (reason === undefined ? [] : [{ entry, reason }])),
  };
}
