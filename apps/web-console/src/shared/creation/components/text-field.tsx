import { Field, helpId } from '../../ui/field.js';
import { TextInput } from '../../ui/inputs.js';

interface TextFieldProps {
  id: string;
  label: string;
  value: string;
  onChange: (text: string) => void;
  required?: boolean;
  placeholder?: string;
  problem?: string | undefined;
  hint?: string | undefined;
  /** Existing values, offered while typing. */
  suggestions?: readonly string[];
}

/** A line of text without the browser's autofill and spell checking. */
export function TextField(props: TextFieldProps) {
  const { id, label, value, onChange, required = false, placeholder, problem, hint, suggestions } = props;
  const list = suggestions && suggestions.length > 0 ? `${id}-list` : undefined;
  return (
    <Field label={label} id={id} required={required} problem={problem} hint={hint}>
      <TextInput
        id={id}
        value={value}
        required={required}
        placeholder={placeholder}
        autoComplete="off"
        spellCheck={false}
        list={list}
        isInvalid={problem !== undefined}
        aria-describedby={helpId(id)}
        onChange={onChange}
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
