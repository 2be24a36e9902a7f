import { t } from '@lingui/core/macro';
import type { PlanStepView, SecondsView } from '@headgate/api-contracts';
import { readableEstimate, readablePromise } from '../quantity/duration.js';
import { readableSizes } from '../quantity/quantity.js';
import { TaskBar } from '../tasks/task-bar.js';
import { isRunning, useTask } from '../tasks/use-tasks.js';
import { Alert } from '../ui/alert.js';
import { Button } from '../ui/button.js';
import { Icon } from '../ui/icon.js';
import { PanelFrame } from './panel-frame.js';

/** What a plan did. */
export interface Outcome {
  /** One sentence such as "web-1 is restarting". */
  readonly title: string;
  /** The task that continues it. */
  readonly task?: string | undefined;
  /** Whether it goes on without a task, such as the shutdown of a guest. */
  readonly goesOn?: boolean;
  /** Begins the opposite. */
  readonly undo?: (() => void) | undefined;
}

interface PlanResultProps {
  title: string;
  outcome: Outcome;
  steps: readonly PlanStepView[];
  /** The estimate of the plan. */
  promised?: SecondsView | undefined;
  /** How long the request took. */
  tookSeconds: number;
  onClose: () => void;
}

/** The result of a plan: its steps, ticked off as they end, and how to undo it. */
export function PlanResult({ title, outcome, steps, promised, tookSeconds, onClose }: PlanResultProps) {
  const { task: id, goesOn = false, undo } = outcome;
  const { data: task } = useTask(id);
  const isDone = id === undefined || (task !== undefined && !isRunning(task));
  const hasFailed = task?.status === 'error';
  return (
    <PanelFrame
      title={title}
      description={isDone ? (hasFailed ? t`Failed` : t`Done`) : t`Running`}
      onClose={onClose}
      onSubmit={onClose}
      footer={
        <>
          <Button type="submit" data-autofocus>
            {t`Close`}
          </Button>
          {undo && isDone && !hasFailed && (
            <Button variant="secondary" onClick={undo}>
              {t`Undo`}
            </Button>
          )}
        </>
      }
    >
      {!hasFailed && (
        <div role="status">
          <Alert variant={isDone ? 'success' : 'info'} title={outcome.title} />
        </div>
      )}
      {task && <TaskBar task={task} />}
      {id === undefined && promised && (
        <p className="hg-note">
          {goesOn ? t`Usually takes ${readableEstimate(promised)}` : t`Done: ${readablePromise(promised, tookSeconds)}`}
        </p>
      )}
      {isDone && !hasFailed && steps.length > 0 && (
        <ol className="hg-steps" aria-label={t`Steps that were carried out`}>
          {steps.map(({ name, detail }) => (
            <li key={`${name} ${detail}`}>
              <Icon name="check" className="hg-status--success" /> <b>{name}</b>{' '}
              <span className="hg-note">{readableSizes(detail)}</span>
            </li>
          ))}
        </ol>
      )}
    </PanelFrame>
  );
}
