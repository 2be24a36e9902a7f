import { TextInput } from '@patternfly/react-core';
import { describedBy, Field } from './field.js';

interface TypedConfirmationProps {
  /** What has to be typed. */
  text: string;
  reason: string;
  value: string;
  onChange: (value: string) => void;
}

/** For what can't be taken back: a click is quickly made, a word is not. */
export function TypedConfirmation({ text, reason, value, onChange }: TypedConfirmationProps) {
  return (
    <Field label={`Type ${text} to confirm`} id="confirmation" hint={reason}>
      <TextInput
        id="confirmation"
        value={value}
        autoComplete="off"
        aria-describedby={describedBy('confirmation')}
        onChange={(_event, typed) => onChange(typed)}
      />
    </Field>
  );
}
