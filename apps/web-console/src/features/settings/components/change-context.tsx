import { t } from '@lingui/core/macro';
import { useMutation, useQuery } from '@tanstack/react-query';
import type { ContextView } from '@headgate/api-contracts';
import { useId, useState } from 'react';
import { ApiError } from '../../../shared/api/api-error.js';
import { fieldErrors } from '../../../shared/api/field-errors.js';
import { PanelFrame } from '../../../shared/plans/panel-frame.js';
import { PlanContents } from '../../../shared/plans/plan-view.js';
import { Button } from '../../../shared/ui/button.js';
import { ErrorAlert } from '../../../shared/ui/error-alert.js';
import { useNotify } from '../../../shared/ui/notifications.js';
import { useSettled } from '../../../shared/ui/use-settled.js';
import { changeContext, previewChange } from '../api/context-requests.js';
import {
  changedSettings,
  changeFieldsOf,
  changeProblems,
  formOfContext,
  type ContextField,
  type ContextForm,
} from '../context-form.js';
import { checksIn, ContextChecks } from './context-checks.js';
import { ContextSetting } from './context-setting.js';

const SETTLE_MS = 300;
const NOTHING = '{}';

interface ChangeContextProps {
  /** The context as it was when the panel was opened. */
  context: ContextView;
  onClose: () => void;
  onChanged: () => void;
}

/** The settings of a context in a form, with the plan of their change. Secrets are never shown. */
export function ChangeContext({ context, onClose, onChanged }: ChangeContextProps) {
  const { name, kind } = context;
  const [form, setForm] = useState<ContextForm>(() => formOfContext(context));
  const id = useId();
  const notify = useNotify();
  const settings = changedSettings(context, form);
  const typed = JSON.stringify(settings);
  const settled = useSettled(typed, SETTLE_MS, NOTHING);
  const found = changeProblems(form);
  const isSound = Object.keys(found).length === 0;

  const plan = useQuery({
    queryKey: ['plan', id, settled],
    queryFn: ({ signal }) => previewChange(name, { settings }, signal),
    enabled: settled !== NOTHING && settled === typed && isSound,
    retry: false,
    staleTime: 0,
    gcTime: 0,
  });
  const change = useMutation({
    mutationFn: (despiteErrors: boolean) => changeContext(name, { settings, ...(despiteErrors && { despiteErrors }) }),
    onSuccess: () => {
      onClose();
      notify({ variant: 'success', title: t`${name} was changed` });
      onChanged();
    },
  });
  const failure = change.error ?? plan.error;
  const failedChecks = change.error instanceof ApiError ? checksIn(change.error.details) : undefined;
  const fields = changeFieldsOf(kind);
  const refused = fieldErrors(
    failure,
    fields.map((field) => field.name),
  );
  const problems: Partial<Record<ContextField, string>> = { ...refused, ...found };
  const isReady = isSound && typed !== NOTHING && !change.isPending;

  return (
    <PanelFrame
      title={t`Change ${name}`}
      description={t`The new settings are tested first. Consoles of its VMs and containers are closed.`}
      onClose={onClose}
      onSubmit={() => isReady && change.mutate(false)}
      footer={
        <>
          <Button type="submit" isDisabled={!isReady} isLoading={change.isPending}>
            {t`Change`}
          </Button>
          {failedChecks !== undefined && (
            <Button variant="secondary" isDisabled={!isReady} onClick={() => change.mutate(true)}>
              {t`Change despite the errors`}
            </Button>
          )}
          <Button variant="link" onClick={onClose}>
            {t`Cancel`}
          </Button>
        </>
      }
    >
      {fields.map((field) => (
        <ContextSetting
          key={field.name}
          id={`change-${field.name}`}
          field={field}
          value={form[field.name]}
          problem={problems[field.name]}
          onChange={(value) => {
            setForm({ ...form, [field.name]: value });
            change.reset();
          }}
        />
      ))}
      {failedChecks && <ContextChecks checks={failedChecks} />}
      {failure && !failedChecks && Object.keys(refused).length === 0 && (
        <ErrorAlert title={t`The service refused the request`} error={failure} />
      )}
      {typed === NOTHING && <p className="hg-note">{t`Nothing has changed yet.`}</p>}
      {plan.data && settled === typed && typed !== NOTHING && (
        <section className="hg-plan" aria-label={t`Planned changes`}>
          <PlanContents plan={plan.data} title={t`Planned changes`} />
        </section>
      )}
    </PanelFrame>
  );
}
