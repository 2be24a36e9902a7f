import { useState } from 'react';
import type { BulkUndo } from '../../actions/action.js';
import { undoOf, type BulkOperation } from '../../actions/bulk-operations.js';
import { bulkReport, memberCount } from '../../bulk/bulk-report.js';
import { bulkOptions, USUAL_CHOICES } from '../../bulk/bulk-options.js';
import { useBulkTask } from '../../bulk/use-bulk-task.js';
import type { Instance } from '../../instances/instance.js';
import { readablePromise } from '../../quantity/duration.js';
import { isRunning } from '../../tasks/use-tasks.js';
import { useSettled } from '../../ui/use-settled.js';
import { countLabel } from '../list-kind.js';
import { useBulkPlan } from '../use-bulk-plan.js';
import { BulkPlan } from './bulk-plan.js';
import { BulkProgress } from './bulk-progress.js';
import { BulkResults } from './bulk-results.js';

/** Until the user has stopped typing. */
const TYPING_MS = 250;

interface BulkPanelProps<E extends Instance> {
  kind: { readonly counted: (count: number) => string; readonly plural: string };
  operation: BulkOperation<E>;
  /** The instances, whose entries are kept up to date. */
  members: readonly E[];
  /** The input that the operation begins with. */
  initialText?: string;
  onClose: () => void;
  /** Selects the failed instances for another operation; absent where nothing can be selected. */
  onSelect?: (refs: readonly string[]) => void;
  /** Begins the opposite on the instances that succeeded. */
  onUndo: (refs: readonly string[], undo: BulkUndo) => void;
}

/** One operation on many instances: the plan, the progress of its task, and the results by name. */
export function BulkPanel<E extends Instance>(props: BulkPanelProps<E>) {
  const { kind, operation, members, initialText = '', onClose, onSelect, onUndo } = props;
  const [text, setText] = useState(initialText);
  /** The instances as they were before it began. */
  const [before, setBefore] = useState<readonly E[]>([]);
  const [choices, setChoices] = useState(USUAL_CHOICES);
  const settled = useSettled(text, operation.input ? TYPING_MS : 0, text);
  const isValid = !operation.input || (settled !== '' && operation.input.problem(settled) === undefined);
  const { preview, planned, changed, rehearse } = useBulkPlan({
    operation,
    members,
    text: isValid ? settled : undefined,
    choices,
  });
  const { included, refused } = planned;
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
        waiting={task?.waiting}
        error={error}
        onStop={stop}
        onClose={onClose}
      />
    );
  }
  if (task) {
    const done = (task.members ?? []).filter(({ status }) => status === 'done').map(({ ref }) => ref);
    const changed = new Set(done);
    const undo = undoOf(
      operation,
      before.filter(({ ref }) => changed.has(ref)),
      text,
    );
    return (
      <BulkResults
        title={title}
        kind={kind}
        report={bulkReport(operation.label, task, refused.length)}
        time={readablePromise(task.promised, task.tookSeconds)}
        error={error}
        onClose={onClose}
        onRetry={retry}
        {...(onSelect && { onSelect })}
        onUndo={undo && (() => onUndo(done, undo))}
      />
    );
  }
  return (
    <BulkPlan
      title={title}
      kind={kind}
      operation={operation}
      planned={planned}
      preview={preview}
      isSettled={settled === text && isValid}
      changed={changed}
      text={text}
      choices={choices}
      error={error}
      onText={setText}
      onChoices={setChoices}
      onRehearse={rehearse}
      onRun={() => {
        const refs = new Set(included.map(({ ref }) => ref));
        setBefore(members.filter(({ ref }) => refs.has(ref)));
        start({ ...operation.request(text), ...bulkOptions(choices) }, [...refs]);
      }}
      onClose={onClose}
    />
  );
}
