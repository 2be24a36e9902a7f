import { useMutation, useQuery } from '@tanstack/react-query';
import type { PlanView as Plan } from '@headgate/api-contracts';
import { useId, useState } from 'react';
import { Button } from '../ui/button.js';
import { Dialog } from '../ui/dialog.js';
import { ErrorAlert } from '../ui/error-alert.js';
import { Spinner } from '../ui/loading.js';
import { TypedConfirmation } from '../ui/typed-confirmation.js';
import { PlanView } from './plan-view.js';

/** How often a plan is requested again while a task refuses it. */
const BUSY_REFETCH_MS = 1_000;

interface PlanDialogProps<T> {
  title: string;
  /** The text of the button that runs the plan. */
  label: string;
  /** The title of the message when the run fails. */
  failure: string;
  isDanger?: boolean;
  /** Requests the plan without changing anything. */
  preview: (signal: AbortSignal) => Promise<Plan>;
  run: () => Promise<T>;
  /** A text that the user has to type first, and why. */
  confirmation?: { readonly text: string; readonly reason: string } | undefined;
  onClose: () => void;
  onDone: (result: T) => void;
}

/** Shows exactly what will happen before anything happens. */
export function PlanDialog<T>(props: PlanDialogProps<T>) {
  const { title, label, failure, isDanger = false, preview, run, confirmation, onClose, onDone } = props;
  const [typed, setTyped] = useState('');
  const id = useId();
  const plan = useQuery({
    queryKey: ['plan', id],
    queryFn: ({ signal }) => preview(signal),
    staleTime: 0,
    gcTime: 0,
    refetchInterval: ({ state: { data } }) =>
      data?.refusals.some(({ code }) => code === 'BUSY') ? BUSY_REFETCH_MS : false,
  });
  const { mutate, error, isPending } = useMutation({ mutationFn: run, onSuccess: onDone });
  const isRefused = (plan.data?.refusals.length ?? 0) > 0;
  const isReady =
    plan.data !== undefined && !isRefused && !isPending && (confirmation === undefined || typed === confirmation.text);

  return (
    <Dialog
      title={title}
      isDanger={isDanger}
      onClose={onClose}
      onSubmit={() => isReady && mutate()}
      footer={
        <>
          <Button variant={isDanger ? 'danger' : 'primary'} type="submit" isDisabled={!isReady} isLoading={isPending}>
            {label}
          </Button>
          <Button variant="link" onClick={onClose}>
            Cancel
          </Button>
        </>
      }
    >
      {plan.isPending && <Spinner label="Loading the preview" />}
      {plan.error && <ErrorAlert title="Preview unavailable" error={plan.error} onRetry={() => void plan.refetch()} />}
      {plan.data && <PlanView plan={plan.data} title="Planned changes" />}
      {confirmation && !isRefused && <TypedConfirmation {...confirmation} value={typed} onChange={setTyped} />}
      {error && <ErrorAlert title={failure} error={error} />}
    </Dialog>
  );
}
