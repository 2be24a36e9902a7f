import { t } from '@lingui/core/macro';
import { Field, helpId } from './field.js';
import { TextInput } from './inputs.js';

interface TypedConfirmationProps {
  /** The text to type. */
  text: string;
  reason: string;
  value: string;
  onChange: (value: string) => void;
}

/** For actions that can't be undone: clicking by mistake is easy, typing a word by mistake is not. */
export function TypedConfirmation({ text, reason, value, onChange }: TypedConfirmationProps) {
  return (
    <Field label={t`Type ${text} to confirm`} id="confirmation" hint={reason}>
      <TextInput
        id="confirmation"
        value={value}
        autoComplete="off"
        aria-describedby={helpId('confirmation')}
        onChange={onChange}
      />
    </Field>
  );
}
