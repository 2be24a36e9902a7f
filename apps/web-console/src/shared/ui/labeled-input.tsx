import { useId, type ComponentProps } from 'react';
import { Field } from './field.js';
import { TextInput } from './inputs.js';

/** A text box with its label above it. */
export function LabeledInput({ label, ...input }: { label: string } & ComponentProps<typeof TextInput>) {
  const id = useId();
  return (
    <Field label={label} id={id}>
      <TextInput id={id} {...input} />
    </Field>
  );
}
