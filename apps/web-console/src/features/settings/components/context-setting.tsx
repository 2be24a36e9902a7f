import { TextField } from '../../../shared/creation/components/text-field.js';
import { Field, helpId } from '../../../shared/ui/field.js';
import { TextArea } from '../../../shared/ui/inputs.js';
import type { SettingField } from '../context-form.js';

const LONG_ROWS = 8;

interface ContextSettingProps {
  id: string;
  field: SettingField;
  value: string;
  problem: string | undefined;
  onChange: (value: string) => void;
}

/** The field of a setting. */
export function ContextSetting({ id, field, value, problem, onChange }: ContextSettingProps) {
  const { label, hint, placeholder, isRequired = false, isLong = false } = field;
  if (!isLong) {
    return (
      <TextField
        {...{ id, label, hint, value, problem, onChange }}
        required={isRequired}
        placeholder={placeholder ?? ''}
      />
    );
  }
  return (
    <Field label={label} id={id} required={isRequired} problem={problem} hint={hint}>
      <TextArea
        id={id}
        rows={LONG_ROWS}
        value={value}
        required={isRequired}
        autoComplete="off"
        spellCheck={false}
        isInvalid={problem !== undefined}
        aria-describedby={helpId(id)}
        onChange={onChange}
      />
    </Field>
  );
}
