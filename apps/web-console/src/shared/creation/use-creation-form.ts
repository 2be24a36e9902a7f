import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { fieldErrors, type FieldErrors } from '../api/field-errors.js';
import type { InstanceCollection } from '../api/instance-path.js';
import { createInstance, rehearseCreation, type Created } from './create-instance.js';
import { draftOf, dropDraft, keepDraft } from './drafts.js';

/** What a kind of instance is made from. */
export interface Creation<F extends object, Field extends string> {
  readonly collection: InstanceCollection;
  /** What the dialog begins with: texts as they are typed. */
  readonly empty: F;
  /** Every field of the request, so that a refusal can be shown where it belongs. */
  readonly fields: readonly Field[];
  /** The form after a change; without it the change alone. */
  readonly change?: (form: F, change: Partial<F>) => F;
  /** Fills in what nobody chose, from what the service offers. */
  readonly complete: (form: F) => F;
  /** What is wrong with each field; the service has the last word. */
  readonly problems: (form: F) => FieldErrors<Field>;
  readonly request: (form: F) => object;
}

export interface CreationForm<F extends object, Field extends string> {
  readonly form: F;
  readonly change: (part: Partial<F>) => void;
  /** Of the fields that were touched, of all after a try, and what the service refused. */
  readonly problems: FieldErrors<Field>;
  /** A refusal that is about no field of the form. */
  readonly error: Error | undefined;
  readonly plan: Awaited<ReturnType<typeof rehearseCreation>> | undefined;
  readonly busy: boolean;
  readonly creating: boolean;
  readonly submit: () => void;
  readonly rehearse: () => void;
  /** Whether the form is what was typed before the dialog was closed. */
  readonly resumed: boolean;
  readonly startAnew: () => void;
}

/** The state of a dialog that creates: what was typed, what is wrong with it, the rehearsal and the request itself. */
export function useCreationForm<F extends object, Field extends string>(
  creation: Creation<F, Field>,
  onCreated: (created: Created, form: F) => void,
): CreationForm<F, Field> {
  const { collection, empty, fields, complete, request } = creation;
  const merge = creation.change ?? ((form: F, part: Partial<F>): F => ({ ...form, ...part }));
  const [resumed, setResumed] = useState(() => draftOf<F>(collection) !== undefined);
  const [edited, setEdited] = useState<F>(() => draftOf<F>(collection) ?? empty);
  const [tried, setTried] = useState(false);
  const [touched, setTouched] = useState<ReadonlySet<string>>(new Set());
  const form = complete(edited);
  const found = creation.problems(form);

  const create = useMutation({
    mutationFn: () => createInstance(collection, request(form)),
    onSuccess: (created) => {
      dropDraft(collection);
      onCreated(created, form);
    },
  });
  const rehearsal = useMutation({ mutationFn: () => rehearseCreation(collection, request(form)) });
  const error = create.error ?? rehearsal.error;
  const refused = fieldErrors(error, fields);
  const shown = Object.entries(found).filter(([field]) => tried || touched.has(field));
  const forget = (): void => {
    create.reset();
    rehearsal.reset();
  };
  const whenRight = (run: () => void) => (): void => {
    setTried(true);
    forget();
    if (Object.keys(found).length === 0) run();
  };

  return {
    form,
    change: (part) => {
      const next = merge(edited, part);
      setEdited(next);
      keepDraft(collection, next);
      setTouched(new Set([...touched, ...Object.keys(part)]));
      forget();
    },
    problems: { ...Object.fromEntries(shown), ...refused },
    error: error && Object.keys(refused).length === 0 ? error : undefined,
    plan: rehearsal.data,
    busy: create.isPending || rehearsal.isPending,
    creating: create.isPending,
    submit: whenRight(() => create.mutate()),
    rehearse: whenRight(() => rehearsal.mutate()),
    resumed,
    startAnew: () => {
      dropDraft(collection);
      setEdited(empty);
      setTried(false);
      setTouched(new Set());
      setResumed(false);
      forget();
    },
  };
}
