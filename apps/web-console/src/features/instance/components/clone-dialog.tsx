import { t } from '@lingui/core/macro';
import { useMutation } from '@tanstack/react-query';
import type { VmView } from '@headgate/api-contracts';
import { useState } from 'react';
import { messageOf } from '../../../shared/api/api-error.js';
import { isVm, readOf, type Instance } from '../../../shared/instances/instance.js';
import { nameProblem } from '../../../shared/names/name-rule.js';
import { PlanPanel } from '../../../shared/plans/plan-panel.js';
import { useTrackTask } from '../../../shared/tasks/track-task.js';
import { perLanguage } from '../../../shared/texts/per-language.js';
import { Button } from '../../../shared/ui/button.js';
import { Dialog } from '../../../shared/ui/dialog.js';
import { Field, helpId } from '../../../shared/ui/field.js';
import { TextInput } from '../../../shared/ui/inputs.js';
import { useNotify } from '../../../shared/ui/notifications.js';
import { ReasonedButton } from '../../../shared/ui/reasoned-button.js';
import { cloneInstance, previewClone, setTemplate } from '../api/snapshot-requests.js';

const descriptions = perLanguage(() => ({
  vm: t`The clone has copies of the disks, the same hardware, and a new identity. It has no snapshots and is in no folder.`,
  container: t`The clone has a copy of the files, the same size, and a new identity. It has no snapshots and is in no folder.`,
}));

/** Copies a stopped VM, a template or a container under another name, after its plan was shown. */
export function CloneDialog({ vm, onClose }: { vm: Instance; onClose: () => void }) {
  const source = readOf(vm);
  const [target, setTarget] = useState('');
  const [isPlanned, setIsPlanned] = useState(false);
  const trackTask = useTrackTask();
  const notify = useNotify();
  const problem = target === '' ? undefined : nameProblem(target);
  const isReady = target !== '' && problem === undefined;
  if (isPlanned)
    return (
      <PlanPanel
        title={t`Clone ${vm.name} to ${target}?`}
        label={t`Clone`}
        failure={t`Couldn't clone ${vm.name}`}
        preview={(signal) => previewClone(source, target, signal)}
        run={() => cloneInstance(source, target)}
        onClose={() => setIsPlanned(false)}
        onDone={({ task }) => {
          if (task !== undefined) trackTask(task);
          const title = task === undefined ? t`Cloned ${vm.name}` : t`${vm.name} is being cloned`;
          notify({ variant: 'success', title });
          onClose();
        }}
      />
    );
  return (
    <Dialog
      title={t`Clone ${vm.name}`}
      description={isVm(vm) ? descriptions().vm : descriptions().container}
      onClose={onClose}
      onSubmit={() => isReady && setIsPlanned(true)}
      footer={
        <>
          <Button type="submit" isDisabled={!isReady}>
            {t`Show the plan`}
          </Button>
          <Button variant="link" onClick={onClose}>
            {t`Cancel`}
          </Button>
        </>
      }
    >
      <Field label={t`Name of the clone`} id="clone-target" required problem={problem}>
        <TextInput
          id="clone-target"
          value={target}
          isInvalid={problem !== undefined}
          aria-describedby={helpId('clone-target')}
          onChange={setTarget}
        />
      </Field>
    </Dialog>
  );
}

/** Marks a stopped VM as a template, or removes the mark. */
export function TemplateButton({ vm, refusal }: { vm: VmView; refusal: string | undefined }) {
  const notify = useNotify();
  const on = !vm.isTemplate;
  const { mutate, isPending } = useMutation({
    mutationFn: () => setTemplate(vm, on),
    onError: (error) => notify({ variant: 'danger', title: t`Couldn't change ${vm.name}`, body: messageOf(error) }),
  });
  const reason = refusal ?? (on && vm.running ? t`Stop the VM to make it a template.` : undefined);
  return (
    <ReasonedButton variant="secondary" reason={reason} isLoading={isPending} onClick={() => mutate()}>
      {on ? t`Make a template` : t`Make it a normal VM`}
    </ReasonedButton>
  );
}
