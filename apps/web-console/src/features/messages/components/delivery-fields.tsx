import { t } from '@lingui/core/macro';
import { TextField } from '../../../shared/creation/components/text-field.js';
import { Field } from '../../../shared/ui/field.js';
import { SelectInput } from '../../../shared/ui/inputs.js';
import type { RuleForm } from '../rule-form.js';

interface DeliveryFieldsProps {
  form: RuleForm;
  onChange: (part: Partial<RuleForm>) => void;
}

/** When a rule sends. */
export function DeliveryFields({ form, onChange }: DeliveryFieldsProps) {
  return (
    <>
      <Field label={t`Sends`} id="rule-delivery">
        <SelectInput
          id="rule-delivery"
          value={form.delivery}
          onChange={(delivery) => onChange({ delivery: delivery as RuleForm['delivery'] })}
        >
          <option value="immediately">{t`Immediately`}</option>
          <option value="digest">{t`Once a day`}</option>
        </SelectInput>
      </Field>
      {form.delivery === 'digest' && (
        <TextField
          id="rule-digest"
          label={t`Time of the digest`}
          required
          placeholder="07:00"
          value={form.digestAt}
          onChange={(digestAt) => onChange({ digestAt })}
        />
      )}
      {form.delivery === 'immediately' && (
        <>
          <TextField
            id="rule-quiet-from"
            label={t`Quiet hours from`}
            placeholder="22:00"
            hint={t`Nothing is sent in these hours; their events are one message afterwards.`}
            value={form.quietFrom}
            onChange={(quietFrom) => onChange({ quietFrom })}
          />
          <TextField
            id="rule-quiet-to"
            label={t`Quiet hours to`}
            placeholder="06:00"
            value={form.quietTo}
            onChange={(quietTo) => onChange({ quietTo })}
          />
        </>
      )}
      <TextField
        id="rule-zone"
        label={t`Time zone`}
        required
        suggestions={Intl.supportedValuesOf('timeZone')}
        value={form.timeZone}
        onChange={(timeZone) => onChange({ timeZone })}
      />
    </>
  );
}
