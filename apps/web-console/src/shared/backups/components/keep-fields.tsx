import { t } from '@lingui/core/macro';
import { useId } from 'react';
import { TextInput } from '../../ui/inputs.js';
import { KEEP_FIELDS, keepLabels, keepProblem, type KeepForm } from '../keep-form.js';

/** How many backups remain: of each hour, day and so on the last one. */
export function KeepFields({ form, onChange }: { form: KeepForm; onChange: (form: KeepForm) => void }) {
  const id = useId();
  const problem = keepProblem(form);
  return (
    <fieldset className="hg-keep" aria-describedby={`${id}-help`}>
      <legend>{t`Keep for each VM`}</legend>
      <div className="hg-keep-fields">
        {KEEP_FIELDS.map((field) => (
          <label key={field} className="hg-field">
            <span>{keepLabels()[field]}</span>
            <TextInput
              value={form[field]}
              inputMode="numeric"
              isInvalid={problem !== undefined && !/^\d*$/.test(form[field])}
              onChange={(text) => onChange({ ...form, [field]: text })}
            />
          </label>
        ))}
      </div>
      <p id={`${id}-help`} className={problem === undefined ? 'hg-note' : 'hg-status--danger'}>
        {problem ?? t`Of each hour, day, week, month and year the last one. The newest one always stays.`}
      </p>
    </fieldset>
  );
}
