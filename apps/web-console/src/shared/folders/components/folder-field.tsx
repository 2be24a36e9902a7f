import { useId } from 'react';
import { Field, helpId } from '../../ui/field.js';
import { SelectInput } from '../../ui/inputs.js';

interface FolderFieldProps {
  label: string;
  /** The text of the choice of no folder. */
  none: string;
  folders: readonly string[];
  /** A path, or empty. */
  value: string;
  problem?: string | undefined;
  onChange: (path: string) => void;
}

/** The choice of a folder by its path. */
export function FolderField({ label, none, folders, value, problem, onChange }: FolderFieldProps) {
  const id = useId();
  // The chosen one may have been removed by another user. The service decides.
  const all = value === '' || folders.includes(value) ? folders : [value, ...folders];
  return (
    <Field label={label} id={id} problem={problem}>
      <SelectInput
        id={id}
        value={value}
        isInvalid={problem !== undefined}
        aria-describedby={helpId(id)}
        onChange={onChange}
      >
        <option value="">{none}</option>
        {all.map((path) => (
          <option key={path} value={path} translate="no">
            {path}
          </option>
        ))}
      </SelectInput>
    </Field>
  );
}
