import { useMutation } from '@tanstack/react-query';
import type { VmView } from '@headgate/api-contracts';
import { useState } from 'react';
import { messageOf } from '../../../shared/api/api-error.js';
import { migrateVm } from '../../../shared/instances/instance-requests.js';
import { useNodes } from '../../../shared/queries/use-nodes.js';
import { useTrackTask } from '../../../shared/tasks/track-task.js';
import { Button } from '../../../shared/ui/button.js';
import { Dialog } from '../../../shared/ui/dialog.js';
import { ErrorAlert } from '../../../shared/ui/error-alert.js';
import { Field, helpId } from '../../../shared/ui/field.js';
import { SelectInput } from '../../../shared/ui/inputs.js';
import { useNotify } from '../../../shared/ui/notifications.js';

/** Moves a running VM to another node, which the user or the scheduler chooses. */
export function MigrateDialog({ vm, onClose }: { vm: VmView; onClose: () => void }) {
  const [targetNode, setTargetNode] = useState('');
  const { data: nodes = [], error: nodesError } = useNodes();
  const others = nodes.filter(({ context, name }) => context === vm.context && name !== vm.node);
  const trackTask = useTrackTask();
  const notify = useNotify();
  const { mutate, error, isPending } = useMutation({
    mutationFn: () => migrateVm(vm, targetNode === '' ? {} : { targetNode }),
    onSuccess: ({ task }) => {
      trackTask(task);
      notify({ variant: 'success', title: `${vm.name} is migrating`, body: 'See Tasks for the progress.' });
      onClose();
    },
  });

  return (
    <Dialog
      title={`Migrate ${vm.name}`}
      description={`From ${vm.node ?? 'an unknown node'}. The VM keeps running during the migration.`}
      onClose={onClose}
      onSubmit={() => !isPending && mutate()}
      footer={
        <>
          <Button type="submit" isLoading={isPending} isDisabled={isPending}>
            Migrate
          </Button>
          <Button variant="link" onClick={onClose}>
            Cancel
          </Button>
        </>
      }
    >
      <Field
        label="Target node"
        id="target-node"
        problem={nodesError ? messageOf(nodesError) : undefined}
        hint="A node with a different CPU vendor is refused."
      >
        <SelectInput
          id="target-node"
          value={targetNode}
          aria-describedby={helpId('target-node')}
          onChange={setTargetNode}
        >
          <option value="">Any (chosen by the scheduler)</option>
          {others.map(({ name, ready }) => (
            <option key={name} value={name} disabled={!ready}>
              {ready ? name : `${name} (not ready)`}
            </option>
          ))}
        </SelectInput>
      </Field>
      {error && <ErrorAlert title={`Couldn't migrate ${vm.name}`} error={error} />}
    </Dialog>
  );
}
