import {
  Button,
  Form,
  FormSelect,
  FormSelectOption,
  Modal,
  ModalBody,
  ModalFooter,
  ModalHeader,
  Switch,
  TextInput,
} from '@patternfly/react-core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { fieldOfError } from '../../../shared/api/field-of-error.js';
import { messageOf } from '../../../shared/api/api-error.js';
import { ErrorAlert } from '../../../shared/ui/error-alert.js';
import { describedBy, Field } from '../../../shared/ui/field.js';
import { createContainer } from '../api/create-container.js';
import { containerProblems, containerRequest, EMPTY_CONTAINER, type ContainerForm } from '../container-form.js';

interface CreateContainerDialogProps {
  /** Those that have containers. */
  contexts: readonly string[];
  onClose: () => void;
  onCreated: (name: string) => void;
}

const TEXTS = [
  { field: 'name', label: 'Name', required: true, hint: 'a-z, 0-9 and "-"' },
  { field: 'image', label: 'Image', required: true, hint: 'registry.example.org/tools/debian:12' },
  { field: 'namespace', label: 'Namespace', required: false, hint: 'Empty: tailvm' },
  { field: 'cpu', label: 'CPUs', required: false, hint: 'A whole number' },
  { field: 'mem', label: 'Memory', required: false, hint: 'Such as 512Mi' },
  {
    field: 'disk',
    label: 'Data volume',
    required: false,
    hint: 'Such as 5Gi; it stays while the container is stopped',
  },
] as const;

/** Makes a container; only the name and the image must be said. */
export function CreateContainerDialog({ contexts, onClose, onCreated }: CreateContainerDialogProps) {
  const [form, setForm] = useState<ContainerForm>(EMPTY_CONTAINER);
  const [tried, setTried] = useState(false);
  const set = (change: Partial<ContainerForm>): void => setForm({ ...form, ...change });
  const context = form.context || contexts[0] || '';
  const { mutate, error, isPending, reset } = useMutation({
    mutationFn: () => createContainer(containerRequest({ ...form, context })),
    onSuccess: ({ name }) => onCreated(name),
  });
  const found = containerProblems(form);
  const refused = fieldOfError(
    error,
    TEXTS.map(({ field }) => field),
  );
  const problemOf = (field: (typeof TEXTS)[number]['field']): string | undefined =>
    refused === field ? messageOf(error) : tried || form[field] !== EMPTY_CONTAINER[field] ? found[field] : undefined;

  return (
    <Modal isOpen variant="small" onClose={onClose} aria-labelledby="create-ct-title" elementToFocus="#ct-name">
      <ModalHeader title="Create container" labelId="create-ct-title" />
      <ModalBody>
        <Form
          id="create-ct"
          className="hg-form"
          onSubmit={(event) => {
            event.preventDefault();
            setTried(true);
            reset();
            if (Object.keys(found).length === 0) mutate();
          }}
        >
          {contexts.length > 1 && (
            <Field label="Context" id="ct-context">
              <FormSelect id="ct-context" value={context} onChange={(_event, value) => set({ context: value })}>
                {contexts.map((name) => (
                  <FormSelectOption key={name} value={name} label={name} />
                ))}
              </FormSelect>
            </Field>
          )}
          {TEXTS.map(({ field, label, required, hint }) => (
            <Field
              key={field}
              label={label}
              id={`ct-${field}`}
              required={required}
              hint={hint}
              problem={problemOf(field)}
            >
              <TextInput
                id={`ct-${field}`}
                value={form[field]}
                autoComplete="off"
                spellCheck={false}
                validated={problemOf(field) ? 'error' : 'default'}
                aria-describedby={describedBy(`ct-${field}`)}
                onChange={(_event, text) => set({ [field]: text })}
              />
            </Field>
          ))}
          <Switch
            id="ct-privileged"
            label="Privileged, with a root file system that lasts"
            isChecked={form.privileged}
            onChange={(_event, privileged) => set({ privileged })}
          />
          {error && !refused && <ErrorAlert title="This was refused" error={error} />}
        </Form>
      </ModalBody>
      <ModalFooter>
        <Button type="submit" form="create-ct" isDisabled={isPending}>
          Create
        </Button>
        <Button variant="link" onClick={onClose}>
          Cancel
        </Button>
      </ModalFooter>
    </Modal>
  );
}
