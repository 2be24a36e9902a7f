import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { fieldOfError } from '../../shared/api/field-of-error.js';
import { messageOf } from '../../shared/api/api-error.js';
import { useFleet } from '../../shared/fleet/fleet-provider.js';
import { contextNamed, useCapabilities } from '../../shared/queries/use-capabilities.js';
import { createVm, type Created } from './api/create-vm.js';
import { rehearseCreate } from './api/rehearse-create.js';
import { useImages } from './api/use-images.js';
import {
  changeForm,
  CREATE_FIELDS,
  EMPTY_FORM,
  formProblems,
  requestOf,
  TINY_IMAGE,
  type CreateField,
  type CreateForm,
} from './create-form.js';
import { SOURCES } from './sources.js';
import { sourceLack } from './components/source-picker.js';

const DEFAULT_NAMESPACE = 'tailvm';

/** The dialog's state: what was typed, what is wrong with it, the rehearsal and the request itself. */
export function useCreateForm(onCreated: (created: Created, form: CreateForm) => void) {
  const { data: capabilities } = useCapabilities();
  const { data: images = [] } = useImages();
  const entries = useFleet((fleet) => fleet.entries);
  const [edited, setEdited] = useState(EMPTY_FORM);
  const [tried, setTried] = useState(false);
  const [touched, setTouched] = useState<ReadonlySet<string>>(new Set());

  // What nobody chose yet follows from what the service offers.
  const contexts = (capabilities?.contexts ?? []).filter(({ up }) => up);
  const context = contextNamed(capabilities, edited.context) ?? contexts[0] ?? capabilities?.contexts[0];
  const source = sourceLack(context, edited.source) ? SOURCES.find((one) => !sourceLack(context, one)) : undefined;
  const image = edited.image || (images.find(({ name }) => name === TINY_IMAGE) ?? images[0])?.name || '';
  const form = changeForm({ ...edited, context: context?.context ?? '' }, { image, ...(source ? { source } : {}) });

  const isTaken = ({ name, namespace, context: where }: CreateForm): boolean =>
    entries.some(
      (vm) =>
        vm.name === name &&
        vm.context === where &&
        vm.namespace === (context?.backend === 'libvirt' ? 'local' : namespace || DEFAULT_NAMESPACE),
    );
  const found = formProblems(form, isTaken);
  const create = useMutation({
    mutationFn: () => createVm(requestOf(form)),
    onSuccess: (created) => onCreated(created, form),
  });
  const rehearsal = useMutation({ mutationFn: () => rehearseCreate(requestOf(form)) });
  const error = create.error ?? rehearsal.error;
  const refusedField = fieldOfError<CreateField>(error, CREATE_FIELDS);
  const shown = Object.entries(found).filter(([field]) => tried || touched.has(field));
  const problems: Partial<Record<CreateField, string>> = {
    ...Object.fromEntries(shown),
    ...(refusedField ? { [refusedField]: messageOf(error) } : {}),
  };

  const change = (part: Partial<CreateForm>): void => {
    setEdited((before) => changeForm(before, part));
    setTouched((before) => new Set([...before, ...Object.keys(part)]));
    create.reset();
    rehearsal.reset();
  };
  const whenRight = (run: () => void) => (): void => {
    setTried(true);
    create.reset();
    rehearsal.reset();
    if (Object.keys(found).length === 0) run();
  };

  return {
    form,
    change,
    context,
    contexts: capabilities?.contexts ?? [],
    problems,
    /** A refusal that names no field of the form. */
    error: refusedField ? undefined : error,
    plan: rehearsal.data,
    busy: create.isPending || rehearsal.isPending,
    creating: create.isPending,
    submit: whenRight(() => create.mutate()),
    rehearse: whenRight(() => rehearsal.mutate()),
  };
}
