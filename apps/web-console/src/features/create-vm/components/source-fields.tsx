import { TextInput } from '@patternfly/react-core';
import { describedBy, Field } from '../../../shared/ui/field.js';
import { SOURCE_WORDING } from '../sources.js';
import type { FormPartProps } from '../vm-form.js';
import { ImageList } from './image-list.js';

/** The one thing that the chosen source needs to know. */
export function SourceFields({ form, onChange, problems }: FormPartProps) {
  const { source } = form;
  const { label, placeholder } = SOURCE_WORDING[source];
  if (source === 'image') {
    return (
      <Field label={label} id="image" required problem={problems.image}>
        <ImageList chosen={form.image} onChange={(image) => onChange({ image })} />
      </Field>
    );
  }
  return (
    <Field
      label={label}
      id={source}
      required
      problem={problems[source]}
      hint={source === 'pvc' ? 'It stays when the VM is deleted.' : undefined}
    >
      <TextInput
        id={source}
        value={form[source]}
        placeholder={placeholder}
        spellCheck={false}
        autoComplete="off"
        validated={problems[source] ? 'error' : 'default'}
        aria-describedby={describedBy(source)}
        onChange={(_event, text) => onChange({ [source]: text })}
      />
    </Field>
  );
}
