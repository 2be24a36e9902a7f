import { useMutation, useQuery } from '@tanstack/react-query';
import type { PlanView } from '@headgate/api-contracts';
import { useState } from 'react';
import { fieldErrors, fieldsOfRefusals, type FieldErrors } from '../api/field-errors.js';
import type { InstanceCollection } from '../api/instance-path.js';
import { useSettled } from '../ui/use-settled.js';
import { createInstance, previewCreation, type Created, type CreationRequest } from './create-instance.js';
import { draftOf, deleteDraft, saveDraft } from './drafts.js';

/** How long the form has to rest before the service rehearses its request. */
const REST_MS = 400;

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
  /** The form without what the storage of the browser must not have. */
  readonly withoutSecrets?: (form: F) => F;
}

export interface CreationForm<F extends object, Field extends string> {
  readonly collection: InstanceCollection;
  readonly form: F;
  readonly change: (part: Partial<F>) => void;
  /** The user has left a field, whose problem is shown from now on. */
  readonly leave: (field: string) => void;
  /** The problems of the fields that the user left (of all fields after an attempt) and the service's errors. */
  readonly problems: FieldErrors<Field>;
  /** Whether every field is valid, as far as the page knows. */
  readonly isValid: boolean;
  /** An error that is not about a field of the form. */
  readonly error: Error | undefined;
  /** What the service would do; undefined until it is known for this form. */
  readonly plan: PlanView | undefined;
  readonly isRehearsing: boolean;
  readonly creating: boolean;
  readonly submit: () => void;
  readonly rehearse: () => void;
  /** Whether the form was restored from a draft. */
  readonly restored: boolean;
  readonly startOver: () => void;
  /** The request that creates the instance. */
  readonly body: CreationRequest;
}

/** The state of a page that creates an instance: its form, the problems, the rehearsal, and the request. */
export function useCreationForm<F extends object, Field extends string>(
  creation: Creation<F, Field>,
  onCreated: (created: Created, form: F) => void,
): CreationForm<F, Field> {
  const { collection, empty, fields, complete, request, withoutSecrets = (form: F): F => form } = creation;
  const merge = creation.change ?? ((form: F, part: Partial<F>): F => ({ ...form, ...part }));
  const [restored, setRestored] = useState(() => draftOf(collection) !== undefined);
  const [edited, setEdited] = useState<F>(() => ({ ...empty, ...draftOf(collection) }));
  const [wasAttempted, setWasAttempted] = useState(false);
  const [left, setLeft] = useState<ReadonlySet<string>>(new Set());
  const form = complete(edited);
  const allProblems = creation.problems(form);
  const isValid = Object.keys(allProblems).length === 0;
  const body = request(form);
  const text = JSON.stringify(body);

  const create = useMutation({
    mutationFn: () => createInstance(collection, body),
    onSuccess: (created) => {
      deleteDraft(collection);
      onCreated(created, form);
    },
  });
  const settled = useSettled(text, REST_MS, '');
  const isSettled = settled === text;
  const rehearsal = useQuery({
    queryKey: ['creation', collection, text],
    queryFn: ({ signal }) => previewCreation(collection, body, signal),
    enabled: isValid && isSettled && !create.isPending && !create.isSuccess,
    retry: false,
    staleTime: 0,
    gcTime: 0,
    refetchOnWindowFocus: false,
  });
  const error = create.error ?? (isSettled ? rehearsal.error : null);
  const plan = isValid && isSettled ? rehearsal.data : undefined;
  const fieldProblems = { ...fieldsOfRefusals(plan?.refusals ?? [], fields), ...fieldErrors(error, fields) };
  const shown = Object.entries(allProblems).filter(([field]) => wasAttempted || left.has(field));

  return {
    collection,
    form,
    change: (part) => {
      const next = merge(edited, part);
      setEdited(next);
      saveDraft(collection, next, withoutSecrets(next));
      create.reset();
    },
    leave: (field) => setLeft((before) => (before.has(field) ? before : new Set([...before, field]))),
    problems: { ...Object.fromEntries(shown), ...fieldProblems },
    isValid,
    error: error && Object.keys(fieldErrors(error, fields)).length === 0 ? error : undefined,
    plan,
    isRehearsing: isValid && (!isSettled || rehearsal.isFetching),
    creating: create.isPending,
    submit: () => {
      setWasAttempted(true);
      create.reset();
      if (isValid) create.mutate();
    },
    rehearse: () => {
      setWasAttempted(true);
      if (isValid) void rehearsal.refetch();
    },
    restored,
    startOver: () => {
      deleteDraft(collection);
      setEdited(empty);
      setWasAttempted(false);
      setLeft(new Set());
      setRestored(false);
      create.reset();
    },
    body,
  };
}
