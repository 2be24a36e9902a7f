import { t } from '@lingui/core/macro';
import { unavailableReason, type ContextCapabilities } from '../../queries/use-capabilities.js';
import { Field, helpId } from '../../ui/field.js';
import { SelectInput } from '../../ui/inputs.js';

interface ContextFieldProps {
  id: string;
  contexts: readonly ContextCapabilities[];
  /** Contexts without it can't be chosen. */
  ability: string;
  value: string;
  onChange: (context: string) => void;
}

/** The context that does something with a backup. */
export function ContextField({ id, contexts, ability, value, onChange }: ContextFieldProps) {
  return (
    <Field label={t`Context`} id={id}>
      <SelectInput id={id} value={value} aria-describedby={helpId(id)} onChange={onChange}>
        {contexts.map((one) => (
          <option
            key={one.context}
            value={one.context}
            translate="no"
            disabled={unavailableReason(one, ability) !== undefined}
          >
            {one.context}
          </option>
        ))}
      </SelectInput>
    </Field>
  );
}
