import { useMutation } from '@tanstack/react-query';
import type { NodeView, VmView } from '@headgate/api-contracts';
import { useState } from 'react';
import { messageOf } from '../../../shared/api/api-error.js';
import { migrateVm } from '../../../shared/instances/instance-requests.js';
import { contextNamed, useCapabilities } from '../../../shared/queries/use-capabilities.js';
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
  const targets = useTargets(vm, nodes);
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
        hint="A node with another CPU vendor is refused, as is one without the networks of the VM."
      >
        <SelectInput
          id="target-node"
          value={targetNode}
          aria-describedby={helpId('target-node')}
          onChange={setTargetNode}
        >
          <option value="">Any (chosen automatically)</option>
          {targets.map(({ value, label, ready }) => (
            <option key={value} value={value} disabled={!ready}>
              {ready ? label : `${label} (not ready)`}
            </option>
          ))}
        </SelectInput>
      </Field>
      {error && <ErrorAlert title={`Couldn't migrate ${vm.name}`} error={error} />}
    </Dialog>
  );
}

interface Target {
  readonly value: string;
  readonly label: string;
  readonly ready: boolean;
}

/** The other nodes of the cluster, or the other contexts of the kind where a context is a single host. */
function useTargets(vm: VmView, nodes: readonly NodeView[]): Target[] {
  const { data: capabilities } = useCapabilities();
  const own = contextNamed(capabilities, vm.context);
  if (own?.isSingleHost !== true) {
    return nodes
      .filter(({ context, name }) => context === vm.context && name !== vm.node)
      .map(({ name, ready }) => ({ value: name, label: name, ready }));
  }
  return nodes
    .filter(({ context }) => context !== vm.context && contextNamed(capabilities, context)?.backend === own.backend)
    .map(({ context, name, ready }) => ({ value: context, label: `${context} (${name})`, ready }));
}
