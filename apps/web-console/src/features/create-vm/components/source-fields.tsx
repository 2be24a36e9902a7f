import { Field, helpId } from '../../../shared/ui/field.js';
import { TextInput } from '../../../shared/ui/inputs.js';
import { sourceWording } from '../sources.js';
import type { FormPartProps } from '../vm-form.js';
import { ImageList } from './image-list.js';

/** The field that the chosen source needs. */
export function SourceFields({ form, onChange, problems }: FormPartProps) {
  const { source } = form;
  const { label, placeholder, fieldHint } = sourceWording()[source];
  if (source === 'image') {
    return (
      <Field label={label} id="image" required problem={problems.image}>
        <ImageList form={form} chosen={form.image} onChange={(image) => onChange({ image })} />
      </Field>
    );
  }
  return (
    <Field label={label} id={source} required problem={problems[source]} hint={fieldHint}>
      <TextInput
        id={source}
        value={form[source]}
        placeholder={placeholder}
        spellCheck={false}
        autoComplete="off"
        isInvalid={problems[source] !== undefined}
        aria-describedby={helpId(source)}
        onChange={(text) => onChange({ [source]: text })}
      />
    </Field>
  );
}
