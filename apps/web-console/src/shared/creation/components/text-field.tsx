import { TextInput } from '@patternfly/react-core';
import { describedBy, Field } from '../../ui/field.js';

interface TextFieldProps {
  id: string;
  label: string;
  value: string;
  onChange: (text: string) => void;
  required?: boolean;
  placeholder?: string;
  problem?: string | undefined;
  hint?: string | undefined;
  /** What was given before in the same place. */
  suggestions?: readonly string[];
}

/** One line of text that no browser completes or corrects. */
export function TextField(props: TextFieldProps) {
  const { id, label, value, onChange, required = false, placeholder, problem, hint, suggestions } = props;
  const list = suggestions && suggestions.length > 0 ? `${id}-list` : undefined;
  return (
    <Field label={label} id={id} required={required} problem={problem} hint={hint}>
      <TextInput
        id={id}
        value={value}
        isRequired={required}
        {...(placeholder ? { placeholder } : {})}
        autoComplete="off"
        spellCheck={false}
        list={list}
        validated={problem ? 'error' : 'default'}
        aria-describedby={describedBy(id)}
        onChange={(_event, text) => onChange(text)}
      />
      {list && (
        <datalist id={list}>
          {suggestions?.map((one) => (
            <option key={one} value={one} />
          ))}
        </datalist>
      )}
    </Field>
  );
}
