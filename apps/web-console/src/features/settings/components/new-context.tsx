import { t } from '@lingui/core/macro';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { ApiError } from '../../../shared/api/api-error.js';
import { fieldErrors } from '../../../shared/api/field-errors.js';
import { TextField } from '../../../shared/creation/components/text-field.js';
import { deleteDraft, draftOf, saveDraft } from '../../../shared/creation/drafts.js';
import { Button } from '../../../shared/ui/button.js';
import { ErrorAlert } from '../../../shared/ui/error-alert.js';
import { Field } from '../../../shared/ui/field.js';
import { SelectInput } from '../../../shared/ui/inputs.js';
import { useNotify } from '../../../shared/ui/notifications.js';
import { addContext, testContext } from '../api/context-requests.js';
import {
  contextProblems,
  contextRequest,
  EMPTY_CONTEXT,
  fieldsOf,
  kindFields,
  withoutSecrets,
  type ContextField,
  type ContextForm,
} from '../context-form.js';
import { checksIn, ContextChecks } from './context-checks.js';
import { ContextSetting } from './context-setting.js';

const DRAFT = 'contexts';

interface NewContextProps {
  /** The kinds that the service can add. */
  kinds: readonly string[];
  onAdded: () => void;
}

/** The form of a new context: tests the settings, and adds the context. */
export function NewContext({ kinds, onAdded }: NewContextProps) {
  const [form, setForm] = useState<ContextForm>(() => ({ ...EMPTY_CONTEXT, ...draftOf(DRAFT) }));
  const [hasAttempted, setHasAttempted] = useState(false);
  const notify = useNotify();
  const found = contextProblems(form);
  const request = contextRequest(form);

  const test = useMutation({ mutationFn: () => testContext(request) });
  const add = useMutation({
    mutationFn: (despiteErrors: boolean) => addContext({ ...request, ...(despiteErrors && { despiteErrors }) }),
    onSuccess: () => {
      notify({ variant: 'success', title: t`${form.name} was added` });
      deleteDraft(DRAFT);
      setForm({ ...EMPTY_CONTEXT, kind: form.kind });
      setHasAttempted(false);
      test.reset();
      onAdded();
    },
  });
  const isBusy = test.isPending || add.isPending;
  const failure = add.error ?? test.error;
  const failedChecks = failure instanceof ApiError ? checksIn(failure.details) : undefined;
  const refused = fieldErrors(failure, ['name', ...fieldsOf(form.kind).map(({ name }) => name)]);
  const problems = { ...refused, ...(hasAttempted ? found : {}) };

  const change = (part: Partial<ContextForm>): void => {
    const next = { ...form, ...part };
    setForm(next);
    saveDraft(DRAFT, next, withoutSecrets(next));
    test.reset();
    add.reset();
  };
  const attempt = (run: () => void): void => {
    setHasAttempted(true);
    if (!isBusy && Object.keys(found).length === 0) run();
  };

  return (
    <form
      aria-label={t`New context`}
      className="hg-form hg-form--narrow"
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        attempt(() => {
          test.reset();
          add.mutate(false);
        });
      }}
    >
      <h3>{t`Add a context`}</h3>
      <Field label={t`Kind`} id="context-kind">
        <SelectInput id="context-kind" value={form.kind} onChange={(kind) => change({ kind })}>
          {kinds
            .filter((kind) => kind in kindFields())
            .map((kind) => (
              <option key={kind} value={kind}>
                {kindFields()[kind]?.label}
              </option>
            ))}
        </SelectInput>
      </Field>
      <TextField
        id="context-name"
        label={t`Name`}
        required
        hint={t`Shown with each of its VMs and containers`}
        value={form.name}
        problem={problems.name}
        onChange={(name) => change({ name })}
      />
      {fieldsOf(form.kind).map((field) => (
        <ContextSetting
          key={field.name}
          id={`context-${field.name}`}
          field={field}
          value={form[field.name]}
          problem={(problems as Partial<Record<ContextField, string>>)[field.name]}
          onChange={(value) => change({ [field.name]: value })}
        />
      ))}
      {failure && !failedChecks && Object.keys(refused).length === 0 && (
        <ErrorAlert title={t`The service refused the request`} error={failure} />
      )}
      {failedChecks && <ContextChecks checks={failedChecks} />}
      {test.data && <ContextChecks checks={test.data.checks} />}
      <div className="hg-toolbar">
        <Button
          variant="secondary"
          isLoading={test.isPending}
          isDisabled={isBusy}
          onClick={() =>
            attempt(() => {
              add.reset();
              test.mutate();
            })
          }
        >
          {t`Test`}
        </Button>
        <Button type="submit" isLoading={add.isPending} isDisabled={isBusy}>
          {t`Add`}
        </Button>
        {(failedChecks !== undefined || test.data?.ok === false) && (
          <Button variant="link" isDisabled={isBusy} onClick={() => attempt(() => add.mutate(true))}>
            {t`Add despite the errors`}
          </Button>
        )}
      </div>
    </form>
  );
}
