import { Button, Modal, ModalBody, ModalFooter, ModalHeader, Spinner, TextInput } from '@patternfly/react-core';
import { useMutation, useQuery } from '@tanstack/react-query';
import type { PlanView as Plan } from '@headgate/api-contracts';
import { useState } from 'react';
import { instancePath, type InstanceAddress, type InstanceCollection } from '../api/instance-path.js';
import { deleteJson } from '../api/request.js';
import { removeInstance } from '../instances/remove-instance.js';
import { ErrorAlert } from '../ui/error-alert.js';
import { describedBy, Field } from '../ui/field.js';
import { PlanView } from '../ui/plan-view.js';

interface RemoveDialogProps {
  collection: InstanceCollection;
  address: InstanceAddress;
  /** Why the name must be typed; undefined for what is stopped and not protected. */
  caution?: string | undefined;
  onClose: () => void;
  onRemoved: () => void;
}

/** Says exactly what goes and what stays before anything goes. */
export function RemoveDialog({ collection, address, caution, onClose, onRemoved }: RemoveDialogProps) {
  const { name, context } = address;
  const path = instancePath(collection, address);
  const [typed, setTyped] = useState('');
  const rehearsal = useQuery({
    queryKey: ['remove', path, context],
    queryFn: ({ signal }) => deleteJson<Plan>(path, { query: { context, dryRun: true }, signal }),
    staleTime: 0,
    gcTime: 0,
  });
  const removal = useMutation({
    mutationFn: () => removeInstance(collection, address),
    onSuccess: onRemoved,
  });
  const refused = (rehearsal.data?.refusals.length ?? 0) > 0;
  const confirmed = caution === undefined || typed === name;

  return (
    <Modal isOpen variant="small" onClose={onClose} aria-labelledby="remove-title">
      <ModalHeader title={`Delete ${name}?`} labelId="remove-title" titleIconVariant="warning" />
      <ModalBody>
        {rehearsal.isPending && <Spinner size="lg" aria-label="Asking what would be removed" />}
        {rehearsal.error && <ErrorAlert title="What would be removed is not known" error={rehearsal.error} />}
        {rehearsal.data && <PlanView plan={rehearsal.data} title="What will happen" />}
        {caution && !refused && (
          <Field label={`Type ${name} to confirm`} id="confirm-name" hint={caution}>
            <TextInput
              id="confirm-name"
              value={typed}
              autoComplete="off"
              aria-describedby={describedBy('confirm-name')}
              onChange={(_event, text) => setTyped(text)}
            />
          </Field>
        )}
        {removal.error && <ErrorAlert title={`${name} was not deleted`} error={removal.error} />}
      </ModalBody>
      <ModalFooter>
        <Button
          variant="danger"
          isDisabled={!rehearsal.data || refused || !confirmed || removal.isPending}
          {...(removal.isPending ? { isLoading: true } : {})}
          onClick={() => removal.mutate()}
        >
          Delete
        </Button>
        <Button variant="link" onClick={onClose}>
          Cancel
        </Button>
      </ModalFooter>
    </Modal>
  );
}
