import { useMutation } from '@tanstack/react-query';
import type { MoveDto, MovePlanView, VmView } from '@headgate/api-contracts';
import { useDeferredValue, useState } from 'react';
import { messageOf } from '../../../shared/api/api-error.js';
import { nameProblem } from '../../../shared/names/name-rule.js';
import { PlanView } from '../../../shared/plans/plan-view.js';
import { readableBytes } from '../../../shared/quantity/quantity.js';
import { useTrackTask } from '../../../shared/tasks/track-task.js';
import { Alert } from '../../../shared/ui/alert.js';
import { Button } from '../../../shared/ui/button.js';
import { Dialog } from '../../../shared/ui/dialog.js';
import { ErrorAlert } from '../../../shared/ui/error-alert.js';
import { Field, helpId } from '../../../shared/ui/field.js';
import { SelectInput, Switch, TextInput } from '../../../shared/ui/inputs.js';
import { Spinner } from '../../../shared/ui/loading.js';
import { useNotify } from '../../../shared/ui/notifications.js';
import { ReasonedButton } from '../../../shared/ui/reasoned-button.js';
import { moveVm, useDestinations, useMovePlan } from '../api/move-requests.js';

/** Opens the dialog that moves a VM to another context. */
export function MoveCard({ vm, refusal }: { vm: VmView; refusal: string | undefined }) {
  const [isOpen, setIsOpen] = useState(false);
  return (
    <section className="hg-card" aria-label="Move">
      <h2>Move</h2>
      <p className="hg-note">Copies the VM to another context. It is stopped during the copy.</p>
      <ReasonedButton variant="secondary" reason={refusal} onClick={() => setIsOpen(true)}>
        Move…
      </ReasonedButton>
      {isOpen && <MoveDialog vm={vm} onClose={() => setIsOpen(false)} />}
    </section>
  );
}

function MoveDialog({ vm, onClose }: { vm: VmView; onClose: () => void }) {
  const [context, setContext] = useState('');
  const [name, setName] = useState(vm.name);
  const [deleteSource, setDeleteSource] = useState(false);
  const { data: destinations = [], error: destinationsError } = useDestinations();
  const destination = destinations.find((one) => one.context === context);
  const problem = nameProblem(name);
  // The plan is read when the user pauses, not for each letter.
  const settledName = useDeferredValue(name);
  const request: MoveDto | undefined =
    destination && nameProblem(settledName) === undefined
      ? { ref: vm.ref, toBackend: destination.backend, toContext: context, name: settledName, deleteSource }
      : undefined;
  const plan = useMovePlan(request);
  const trackTask = useTrackTask();
  const notify = useNotify();
  const { mutate, error, isPending } = useMutation({
    mutationFn: (body: MoveDto) => moveVm(body),
    onSuccess: ({ task }) => {
      trackTask(task);
      notify({ variant: 'success', title: `${vm.name} is being moved`, body: 'See Tasks for the progress.' });
      onClose();
    },
  });
  const isReady = request !== undefined && settledName === name && plan.data?.ok === true && !isPending;

  return (
    <Dialog
      title={`Move ${vm.name}`}
      description={`From ${vm.context}. The copy is compared with the source before anything is deleted.`}
      onClose={onClose}
      onSubmit={() => isReady && mutate(request)}
      footer={
        <>
          <Button type="submit" isLoading={isPending} isDisabled={!isReady}>
            Move
          </Button>
          <Button variant="link" onClick={onClose}>
            Cancel
          </Button>
        </>
      }
    >
      <Field
        label="Destination"
        id="move-destination"
        required
        problem={destinationsError ? messageOf(destinationsError) : undefined}
      >
        <SelectInput
          id="move-destination"
          value={context}
          aria-describedby={helpId('move-destination')}
          onChange={setContext}
        >
          <option value="">Choose a context</option>
          {destinations.map((one) => (
            <option key={one.context} value={one.context} disabled={!one.can}>
              {`${one.context} (${one.can ? one.backend : (one.reason ?? 'not available')})`}
            </option>
          ))}
        </SelectInput>
      </Field>
      <Field label="Name" id="move-name" required problem={problem}>
        <TextInput
          id="move-name"
          value={name}
          isInvalid={problem !== undefined}
          aria-describedby={helpId('move-name')}
          onChange={setName}
        />
      </Field>
      <Switch
        id="move-delete-source"
        label="Delete the source after the copy was verified"
        isChecked={deleteSource}
        onChange={setDeleteSource}
      />
      {request && plan.isPending && <Spinner label="Loading the preview" />}
      {plan.error && <ErrorAlert title="Preview unavailable" error={plan.error} onRetry={() => void plan.refetch()} />}
      {plan.data && <MovePlan plan={plan.data} />}
      {error && <ErrorAlert title={`Couldn't move ${vm.name}`} error={error} />}
    </Dialog>
  );
}

function MovePlan({ plan }: { plan: MovePlanView }) {
  return (
    <>
      <PlanView plan={plan} title="Planned changes" />
      {plan.dropped.length > 0 && (
        <Alert isPlain variant="warning" title="The copy will not have:">
          <ul>
            {plan.dropped.map((one) => (
              <li key={one}>{one}</li>
            ))}
          </ul>
        </Alert>
      )}
      {plan.ok && (
        <p className="hg-note">
          {`About ${readableBytes(plan.estimatedBytes)} to copy.`}
          {plan.estimatedDowntimeSeconds !== null &&
            ` The guest is stopped for about ${readableDuration(plan.estimatedDowntimeSeconds)}, and stays stopped.`}
        </p>
      )}
    </>
  );
}

const readableDuration = (seconds: number): string =>
  seconds < 90 ? `${seconds} seconds` : `${Math.ceil(seconds / 60)} minutes`;
