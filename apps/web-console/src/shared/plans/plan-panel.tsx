import { t } from '@lingui/core/macro';
import { useMutation, useQuery } from '@tanstack/react-query';
import type { PlanView as Plan } from '@headgate/api-contracts';
import { useId, useState, type ReactNode } from 'react';
import { Alert } from '../ui/alert.js';
import { Button } from '../ui/button.js';
import { CopyButton } from '../ui/copy.js';
import { ErrorAlert } from '../ui/error-alert.js';
import { Spinner } from '../ui/loading.js';
import { TypedConfirmation } from '../ui/typed-confirmation.js';
import { PanelFrame } from './panel-frame.js';
import { PlanResult, type Outcome } from './plan-result.js';
import { PlanView } from './plan-view.js';
import { StalePlan } from './stale-plan.js';

/** How often a plan is requested again while a task refuses it. */
const BUSY_REFETCH_MS = 1_000;

interface PlanPanelProps<T, P extends Plan> {
  title: string;
  /** The text of the button that runs the plan. */
  label: string;
  /** The title of the message when the run fails. */
  failure: string;
  isDanger?: boolean;
  /** Where the instance is. */
  place?: ReactNode;
  /** What it means for users. */
  consequence?: string | undefined;
  /** Requests the plan without changing anything. */
  preview: (signal: AbortSignal) => Promise<P>;
  run: () => Promise<T>;
  /** A text that the user has to type first, and why. */
  confirmation?: { readonly text: string; readonly reason: string } | undefined;
  /** Choices that belong to the request. */
  options?: ReactNode;
  /** What the plan has besides its steps. */
  details?: (plan: P) => ReactNode;
  /** Identifies the choices: other choices need another plan. */
  choice?: string;
  /** The instance, and the part of its state that the plan depends on. */
  subject?: { readonly name: string; readonly state: string } | undefined;
  /** The request as a command. */
  curl?: string | undefined;
  onClose: () => void;
  onDone: (result: T) => void;
  /** The result, which the panel shows until it is closed; without it, `onDone` closes the panel. */
  outcome?: (result: T) => Outcome;
}

/** Shows exactly what will happen before anything happens, and afterwards what happened. */
export function PlanPanel<T, P extends Plan = Plan>(props: PlanPanelProps<T, P>) {
  const { title, label, failure, isDanger = false, consequence, preview, run, confirmation, options } = props;
  const { choice = '', place, subject, curl, details, onClose, onDone, outcome } = props;
  const [typed, setTyped] = useState('');
  const id = useId();
  const plan = useQuery({
    queryKey: ['plan', id, choice],
    queryFn: async ({ signal }) => {
      // The state when the service began to plan: a change in the meantime makes the plan out of date.
      const state = subject?.state;
      return { state, ...(await preview(signal)) };
    },
    staleTime: 0,
    gcTime: 0,
    refetchInterval: ({ state: { data } }) =>
      data?.refusals.some(({ code }) => code === 'BUSY') ? BUSY_REFETCH_MS : false,
  });
  const {
    mutate,
    error,
    isPending,
    data: done,
  } = useMutation({
    mutationFn: () => timed(run),
    onSuccess: ({ result }) => onDone(result),
  });
  if (done && outcome)
    return (
      <PlanResult
        title={title}
        outcome={outcome(done.result)}
        steps={plan.data?.steps ?? []}
        promised={plan.data?.seconds}
        tookSeconds={done.seconds}
        onClose={onClose}
      />
    );

  const isRefused = (plan.data?.refusals.length ?? 0) > 0;
  const isStale = !isPending && plan.data !== undefined && plan.data.state !== subject?.state;
  const isReady =
    plan.data !== undefined &&
    !isRefused &&
    !isStale &&
    !isPending &&
    (confirmation === undefined || typed === confirmation.text);
  return (
    <PanelFrame
      title={title}
      description={
        <>
          {place !== undefined && (
            <>
              {place}
              {' · '}
            </>
          )}
          <span>{isPending ? t`Working` : t`Nothing has happened yet.`}</span>
        </>
      }
      isDanger={isDanger}
      onClose={onClose}
      onSubmit={() => isReady && mutate()}
      footer={
        <>
          <Button variant={isDanger ? 'danger' : 'primary'} type="submit" isDisabled={!isReady} isLoading={isPending}>
            {label}
          </Button>
          <Button variant="link" onClick={onClose}>
            {t`Cancel`}
          </Button>
          {curl !== undefined && <CopyButton isSmall text={curl} label={t`Copy as curl`} />}
        </>
      }
    >
      {isStale && subject && (
        <StalePlan
          title={t`${subject.name} changed since this plan was created`}
          isLoading={plan.isFetching}
          onRehearse={() => void plan.refetch()}
        />
      )}
      {consequence !== undefined && <Alert variant="warning" title={consequence} />}
      {options}
      {plan.isPending && <Spinner label={t`Loading the preview`} />}
      {plan.error && (
        <ErrorAlert title={t`Preview unavailable`} error={plan.error} onRetry={() => void plan.refetch()} />
      )}
      {plan.data && <PlanView plan={plan.data} title={t`Planned changes`} />}
      {plan.data && details?.(plan.data)}
      {confirmation && !isRefused && <TypedConfirmation {...confirmation} value={typed} onChange={setTyped} />}
      {error && <ErrorAlert title={failure} error={error} />}
    </PanelFrame>
  );
}

/** How long the user waits for the answer. */
async function timed<T>(run: () => Promise<T>): Promise<{ result: T; seconds: number }> {
  const begin = performance.now();
  const result = await run();
  return { result, seconds: (performance.now() - begin) / 1000 };
}
