import {
  Button,
  FormSelect,
  FormSelectOption,
  Modal,
  ModalBody,
  ModalFooter,
  ModalHeader,
} from '@patternfly/react-core';
import { useMutation } from '@tanstack/react-query';
import type { VmView } from '@headgate/api-contracts';
import { useState } from 'react';
import { messageOf } from '../../../shared/api/api-error.js';
import { useNodes } from '../../../shared/queries/use-nodes.js';
import { useBeginTask } from '../../../shared/tasks/use-begin-task.js';
import { ErrorAlert } from '../../../shared/ui/error-alert.js';
import { describedBy, Field } from '../../../shared/ui/field.js';
import { useNotify } from '../../../shared/ui/notifications.js';
import { migrateVm } from '../../../shared/instances/migrate-vm.js';

/** Moves the running guest to another node, chosen or left to the scheduler. */
export function MigrateDialog({ vm, onClose }: { vm: VmView; onClose: () => void }) {
  const [targetNode, setTargetNode] = useState('');
  const { data: nodes = [], error: nodesError } = useNodes();
  const others = nodes.filter(({ context, name }) => context === vm.context && name !== vm.node);
  const begin = useBeginTask();
  const notify = useNotify();
  const { mutate, error, isPending } = useMutation({
    mutationFn: () => migrateVm(vm, targetNode === '' ? {} : { targetNode }),
    onSuccess: ({ task }) => {
      begin(task);
      notify({ variant: 'success', title: `${vm.name} is migrating`, body: 'The tasks tell how far it is.' });
      onClose();
    },
  });

  return (
    <Modal isOpen variant="small" onClose={onClose} aria-labelledby="migrate-title">
      <ModalHeader
        title={`Migrate ${vm.name}`}
        labelId="migrate-title"
        description={`It runs on ${vm.node ?? 'an unknown node'} and goes on running.`}
      />
      <ModalBody>
        <Field
          label="To"
          id="target-node"
          problem={nodesError ? messageOf(nodesError) : undefined}
          hint="Nodes with another CPU vendor are refused."
        >
          <FormSelect
            id="target-node"
            value={targetNode}
            aria-describedby={describedBy('target-node')}
            onChange={(_event, node) => setTargetNode(node)}
          >
            <FormSelectOption value="" label="Any: the scheduler chooses" />
            {others.map(({ name, ready }) => (
              <FormSelectOption
                key={name}
                value={name}
                isDisabled={!ready}
                label={ready ? name : `${name} (not ready)`}
              />
            ))}
          </FormSelect>
        </Field>
        {error && <ErrorAlert title="The migration was refused" error={error} />}
      </ModalBody>
      <ModalFooter>
        <Button {...(isPending ? { isLoading: true } : {})} isDisabled={isPending} onClick={() => mutate()}>
          Migrate
        </Button>
        <Button variant="link" onClick={onClose}>
          Cancel
        </Button>
      </ModalFooter>
    </Modal>
  );
}
