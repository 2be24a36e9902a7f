import { t } from '@lingui/core/macro';
import { useMutation } from '@tanstack/react-query';
import type { ScheduleView } from '@headgate/api-contracts';
import { useState } from 'react';
import { TextField } from '../../../shared/creation/components/text-field.js';
import { useFolderPaths } from '../../../shared/queries/use-folder-paths.js';
import { Button } from '../../../shared/ui/button.js';
import { ErrorAlert } from '../../../shared/ui/error-alert.js';
import { Field } from '../../../shared/ui/field.js';
import { SelectInput } from '../../../shared/ui/inputs.js';
import { useNotify } from '../../../shared/ui/notifications.js';
import { ReasonedButton } from '../../../shared/ui/reasoned-button.js';
import { createSchedule, updateSchedule } from '../api/schedule-requests.js';
import { actionLabels, emptyForm, formOf, problemOf, requestOf, type ScheduleForm } from '../schedule-form.js';
import { BackupFields } from './backup-fields.js';
import { NextRuns } from './next-runs.js';

interface ScheduleFormSectionProps {
  /** The schedule that is changed; undefined for a new one. */
  schedule?: ScheduleView | undefined;
  /** Why the user can't change anything. */
  refusal: string | undefined;
  onSaved: () => void;
  onCancel: () => void;
}

/** Creates a schedule, or changes one. */
export function ScheduleFormSection({ schedule, refusal, onSaved, onCancel }: ScheduleFormSectionProps) {
  const [form, setForm] = useState<ScheduleForm>(() => (schedule ? formOf(schedule) : emptyForm()));
  const { data: folders = [] } = useFolderPaths(true);
  const notify = useNotify();
  const save = useMutation({
    mutationFn: () =>
      schedule ? updateSchedule(schedule.id, requestOf(form, schedule.job)) : createSchedule(requestOf(form)),
    onSuccess: ({ name }) => {
      notify({ variant: 'success', title: schedule ? t`${name} was changed` : t`${name} was created` });
      if (!schedule) setForm(emptyForm());
      onSaved();
    },
  });
  const change = (part: Partial<ScheduleForm>): void => {
    setForm({ ...form, ...part });
    save.reset();
  };
  const reason = refusal ?? problemOf(form, schedule?.job.query.context);
  const known = schedule?.name;
  const title = known === undefined ? t`New schedule` : t`Change ${known}`;

  return (
    <form
      aria-label={title}
      className="hg-form hg-form--narrow"
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        if (reason === undefined && !save.isPending) save.mutate();
      }}
    >
      <h2>{title}</h2>
      <TextField id="schedule-name" label={t`Name`} required value={form.name} onChange={(name) => change({ name })} />
      <Field label={t`Action`} id="schedule-action">
        <SelectInput
          id="schedule-action"
          value={form.action}
          onChange={(action) => change({ action: action as ScheduleForm['action'] })}
        >
          {Object.entries(actionLabels()).map(([action, label]) => (
            <option key={action} value={action}>
              {label}
            </option>
          ))}
        </SelectInput>
      </Field>
      {form.action === 'snapshot' && (
        <TextField
          id="schedule-keep"
          label={t`Snapshots to keep`}
          hint={t`Of each instance. Only snapshots that this schedule has created are deleted. Empty keeps all.`}
          value={form.keep}
          onChange={(keep) => change({ keep })}
        />
      )}
      {form.action === 'backup' && <BackupFields form={form} onChange={change} />}
      {form.action !== 'backup' && (
        <Field label={t`Kind`} id="schedule-kind">
          <SelectInput
            id="schedule-kind"
            value={form.kind}
            onChange={(kind) => change({ kind: kind as ScheduleForm['kind'] })}
          >
            <option value="vm">{t`Virtual machines`}</option>
            <option value="ct">{t`Containers`}</option>
          </SelectInput>
        </Field>
      )}
      <TextField
        id="schedule-query"
        label={t`Query`}
        hint={t`As in the list. The instances that match at the time of a run are chosen.`}
        value={form.q}
        onChange={(q) => change({ q })}
      />
      <TextField
        id="schedule-folder"
        label={t`Folder`}
        hint={t`Only instances in this folder and in the folders in it`}
        suggestions={folders}
        value={form.folder}
        onChange={(folder) => change({ folder })}
      />
      <TextField
        id="schedule-cron"
        label={t`Cron expression`}
        required
        hint={t`Minute, hour, day of month, month, day of week; or @hourly, @daily, @weekly, @monthly`}
        value={form.cron}
        onChange={(cron) => change({ cron })}
      />
      <TextField
        id="schedule-zone"
        label={t`Time zone`}
        required
        suggestions={Intl.supportedValuesOf('timeZone')}
        value={form.timeZone}
        onChange={(timeZone) => change({ timeZone })}
      />
      <NextRuns cron={form.cron} timeZone={form.timeZone} />
      <label>
        <input
          type="checkbox"
          checked={form.missed === 'once'}
          onChange={({ target }) => change({ missed: target.checked ? 'once' : 'skip' })}
        />{' '}
        {t`After an outage, make up for missed runs with one run`}
      </label>
      {save.error && <ErrorAlert title={t`The service refused the request`} error={save.error} />}
      <div className="hg-toolbar">
        <ReasonedButton type="submit" reason={reason} isLoading={save.isPending}>
          {schedule ? t`Save changes` : t`Create schedule`}
        </ReasonedButton>
        {schedule && (
          <Button variant="secondary" onClick={onCancel}>
            {t`Cancel`}
          </Button>
        )}
      </div>
    </form>
  );
}
