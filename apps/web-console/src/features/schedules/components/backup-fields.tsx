import { t } from '@lingui/core/macro';
import { messageOf } from '../../../shared/api/api-error.js';
import { useBackupTargets } from '../../../shared/backups/backup-requests.js';
import { KeepFields } from '../../../shared/backups/components/keep-fields.js';
import { Field, helpId } from '../../../shared/ui/field.js';
import { SelectInput, Switch } from '../../../shared/ui/inputs.js';
import type { ScheduleForm } from '../schedule-form.js';

interface BackupFieldsProps {
  form: ScheduleForm;
  onChange: (part: Partial<ScheduleForm>) => void;
}

/** Where a schedule backs VMs up to, and which of its backups remain. */
export function BackupFields({ form: { target, backupKeep, prove, onlyIfProved }, onChange }: BackupFieldsProps) {
  const { data: targets, error } = useBackupTargets();
  const isGone = targets !== undefined && target !== '' && !targets.some(({ id }) => id === target);
  const problem = error ? messageOf(error) : isGone ? t`Its target was removed. Choose another one.` : undefined;
  return (
    <>
      <Field
        label={t`Backup target`}
        id="schedule-target"
        required
        problem={problem}
        hint={targets?.length === 0 ? t`There is no backup target yet. Administrators add them.` : undefined}
      >
        <SelectInput
          id="schedule-target"
          value={isGone ? '' : target}
          isInvalid={problem !== undefined}
          aria-describedby={helpId('schedule-target')}
          onChange={(id) => onChange({ target: id })}
        >
          <option value="">{t`Choose a target`}</option>
          {targets?.map(({ id, name }) => (
            <option key={id} value={id} translate="no">
              {name}
            </option>
          ))}
        </SelectInput>
      </Field>
      <KeepFields form={backupKeep} onChange={(rules) => onChange({ backupKeep: rules })} />
      <p className="hg-note">
        {t`Applied after each run to the VMs that it has backed up. Only backups that this schedule has created are deleted. Without numbers, all are kept.`}
      </p>
      <Switch
        id="schedule-prove"
        label={t`Boot the new backups afterwards, without a network`}
        isChecked={prove}
        onChange={(isOn) => onChange({ prove: isOn })}
      />
      <Switch
        id="schedule-only-if-proved"
        label={t`Delete a backup only if a newer one of the VM has booted`}
        isChecked={onlyIfProved}
        onChange={(isOn) => onChange({ onlyIfProved: isOn })}
      />
    </>
  );
}
