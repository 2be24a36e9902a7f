import { Button, Modal, ModalBody, ModalFooter, ModalHeader, Spinner } from '@patternfly/react-core';
import { useMutation, useQuery } from '@tanstack/react-query';
import type { PlanView as Plan } from '@headgate/api-contracts';
import { useId, useState } from 'react';
import { ErrorAlert } from '../ui/error-alert.js';
import { TypedConfirmation } from '../ui/typed-confirmation.js';
import { PlanView } from './plan-view.js';

interface PlanDialogProps<T> {
  title: string;
  /** What the button says, and what failed when it failed. */
  label: string;
  failure: string;
  isDanger?: boolean;
  /** Asks what would be done; nothing is changed. */
  rehearse: (signal: AbortSignal) => Promise<Plan>;
  run: () => Promise<T>;
  /** What has to be typed, and why. */
  confirmation?: { readonly text: string; readonly reason: string } | undefined;
  onClose: () => void;
  onDone: (result: T) => void;
}

/** Says exactly what will happen before anything happens. */
export function PlanDialog<T>(props: PlanDialogProps<T>) {
  const { title, label, failure, isDanger = false, rehearse, run, confirmation, onClose, onDone } = props;
  const [typed, setTyped] = useState('');
  const id = useId();
  const rehearsal = useQuery({
    queryKey: ['plan', id],
    queryFn: ({ signal }) => rehearse(signal),
    staleTime: 0,
    gcTime: 0,
  });
  const { mutate, error, isPending } = useMutation({ mutationFn: run, onSuccess: onDone });
  const refused = (rehearsal.data?.refusals.length ?? 0) > 0;
  const confirmed = confirmation === undefined || typed === confirmation.text;

  return (
    <Modal isOpen variant="small" onClose={onClose} aria-labelledby="plan-title">
      <ModalHeader title={title} labelId="plan-title" {...(isDanger ? { titleIconVariant: 'warning' as const } : {})} />
      <ModalBody>
        {rehearsal.isPending && <Spinner size="lg" aria-label="Asking what would be done" />}
        {rehearsal.error && (
          <ErrorAlert
            title="What would be done is not known"
            error={rehearsal.error}
            onRetry={() => void rehearsal.refetch()}
          />
        )}
        {rehearsal.data && <PlanView plan={rehearsal.data} title="What will happen" />}
        {confirmation && !refused && <TypedConfirmation {...confirmation} value={typed} onChange={setTyped} />}
        {error && <ErrorAlert title={failure} error={error} />}
      </ModalBody>
      <ModalFooter>
        <Button
          variant={isDanger ? 'danger' : 'primary'}
          isDisabled={!rehearsal.data || refused || !confirmed || isPending}
          {...(isPending ? { isLoading: true } : {})}
          onClick={() => mutate()}
        >
          {label}
        </Button>
        <Button variant="link" onClick={onClose}>
          Cancel
        </Button>
      </ModalFooter>
    </Modal>
  );
}
