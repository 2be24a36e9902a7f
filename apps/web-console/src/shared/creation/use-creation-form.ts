import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { fieldErrors, type FieldErrors } from '../api/field-errors.js';
import type { InstanceCollection } from '../api/instance-path.js';
import { createInstance, previewCreation, type Created, type CreationRequest } from './create-instance.js';
import { draftOf, deleteDraft, saveDraft } from './drafts.js';

/** How one kind of instance is created. */
export interface Creation<F extends object, Field extends string> {
  readonly collection: InstanceCollection;
  /** The initial form. */
  readonly empty: F;
  /** Every field of the request, so that an error can be shown at its field. */
  readonly fields: readonly Field[];
  /** Applies a change to the form; by default, only the changed fields change. */
  readonly change?: (form: F, change: Partial<F>) => F;
  /** Fills in defaults from the capabilities of the service. */
  readonly complete: (form: F) => F;
  /** The problems of each field. The service has the last word. */
  readonly problems: (form: F) => FieldErrors<Field>;
  readonly request: (form: F) => CreationRequest;
}

export interface CreationForm<F extends object, Field extends string> {
  readonly form: F;
  readonly change: (part: Partial<F>) => void;
  /** The problems of the edited fields (of all fields after an attempt) and the service's errors. */
  readonly problems: FieldErrors<Field>;
  /** An error that is not about a field of the form. */
  readonly error: Error | undefined;
  readonly plan: Awaited<ReturnType<typeof previewCreation>> | undefined;
  readonly busy: boolean;
  readonly creating: boolean;
  readonly submit: () => void;
  readonly preview: () => void;
  /** Whether the form was restored from a draft. */
  readonly restored: boolean;
  readonly startOver: () => void;
}

/** The state of a create dialog: its form, the problems, the preview, and the request. */
export function useCreationForm<F extends object, Field extends string>(
  creation: Creation<F, Field>,
  onCreated: (created: Created, form: F) => void,
): CreationForm<F, Field> {
  const { collection, empty, fields, complete, request } = creation;
  const merge = creation.change ?? ((form: F, part: Partial<F>): F => ({ ...form, ...part }));
  const [restored, setRestored] = useState(() => draftOf<F>(collection) !== undefined);
  const [edited, setEdited] = useState<F>(() => draftOf<F>(collection) ?? empty);
  const [wasAttempted, setWasAttempted] = useState(false);
  const [touched, setTouched] = useState<ReadonlySet<string>>(new Set());
  const form = complete(edited);
  const allProblems = creation.problems(form);

  const create = useMutation({
    mutationFn: () => createInstance(collection, request(form)),
    onSuccess: (created) => {
      deleteDraft(collection);
      onCreated(created, form);
    },
  });
  const planned = useMutation({ mutationFn: () => previewCreation(collection, request(form)) });
  const error = create.error ?? planned.error;
  const fieldProblems = fieldErrors(error, fields);
  const shown = Object.entries(allProblems).filter(([field]) => wasAttempted || touched.has(field));
  const clearResults = (): void => {
    create.reset();
    planned.reset();
  };
  const whenValid = (run: () => void) => (): void => {
    setWasAttempted(true);
    clearResults();
    if (Object.keys(allProblems).length === 0) run();
  };

  return {
    form,
    change: (part) => {
      const next = merge(edited, part);
      setEdited(next);
      saveDraft(collection, next);
      setTouched(new Set([...touched, ...Object.keys(part)]));
      clearResults();
    },
    problems: { ...Object.fromEntries(shown), ...fieldProblems },
    error: error && Object.keys(fieldProblems).length === 0 ? error : undefined,
    plan: planned.data,
    busy: create.isPending || planned.isPending,
    creating: create.isPending,
    submit: whenValid(() => create.mutate()),
    preview: whenValid(() => planned.mutate()),
    restored,
    startOver: () => {
      deleteDraft(collection);
      setEdited(empty);
      setWasAttempted(false);
      setTouched(new Set());
      setRestored(false);
      clearResults();
    },
  };
}
