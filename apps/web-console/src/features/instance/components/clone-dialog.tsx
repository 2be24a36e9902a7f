import { useMutation } from '@tanstack/react-query';
import type { VmView } from '@headgate/api-contracts';
import { useState } from 'react';
import { messageOf } from '../../../shared/api/api-error.js';
import { nameProblem } from '../../../shared/names/name-rule.js';
import { useTrackTask } from '../../../shared/tasks/track-task.js';
import { Button } from '../../../shared/ui/button.js';
import { Dialog } from '../../../shared/ui/dialog.js';
import { ErrorAlert } from '../../../shared/ui/error-alert.js';
import { Field, helpId } from '../../../shared/ui/field.js';
import { TextInput } from '../../../shared/ui/inputs.js';
import { useNotify } from '../../../shared/ui/notifications.js';
import { ReasonedButton } from '../../../shared/ui/reasoned-button.js';
import { cloneVm, setTemplate } from '../api/snapshot-requests.js';

/** Copies a stopped VM or a template under another name. */
export function CloneDialog({ vm, onClose }: { vm: VmView; onClose: () => void }) {
  const [target, setTarget] = useState('');
  const trackTask = useTrackTask();
  const notify = useNotify();
  const problem = target === '' ? undefined : nameProblem(target);
  const { mutate, error, isPending } = useMutation({
    mutationFn: () => cloneVm(vm, target),
    onSuccess: ({ task }) => {
      if (task !== undefined) trackTask(task);
      notify({ variant: 'success', title: task === undefined ? `Cloned ${vm.name}` : `${vm.name} is being cloned` });
      onClose();
    },
  });
  return (
    <Dialog
      title={`Clone ${vm.name}`}
      description="The clone has copies of the disks, the same hardware, and a new identity."
      onClose={onClose}
      onSubmit={() => !isPending && target !== '' && problem === undefined && mutate()}
      footer={
        <>
          <Button type="submit" isLoading={isPending} isDisabled={isPending || target === '' || problem !== undefined}>
            Clone
          </Button>
          <Button variant="link" onClick={onClose}>
            Cancel
          </Button>
        </>
      }
    >
      <Field label="Name of the clone" id="clone-target" required problem={problem}>
        <TextInput
          id="clone-target"
          value={target}
          isInvalid={problem !== undefined}
          aria-describedby={helpId('clone-target')}
          onChange={setTarget}
        />
      </Field>
      {error && <ErrorAlert title={`Couldn't clone ${vm.name}`} error={error} />}
    </Dialog>
  );
}

/** Marks a stopped VM as a template, or removes the mark. */
export function TemplateButton({ vm, refusal }: { vm: VmView; refusal: string | undefined }) {
  const notify = useNotify();
  const on = !vm.isTemplate;
  const { mutate, isPending } = useMutation({
    mutationFn: () => setTemplate(vm, on),
    onError: (error) => notify({ variant: 'danger', title: `Couldn't change ${vm.name}`, body: messageOf(error) }),
  });
  const reason = refusal ?? (on && vm.running ? 'Stop the VM to make it a template.' : undefined);
  return (
    <ReasonedButton variant="secondary" reason={reason} isLoading={isPending} onClick={() => mutate()}>
      {on ? 'Make a template' : 'Make it a normal VM'}
    </ReasonedButton>
  );
}
