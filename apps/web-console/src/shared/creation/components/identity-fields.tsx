import { t } from '@lingui/core/macro';
import type { FieldErrors } from '../../api/field-errors.js';
import { MAX_NAME_LENGTH } from '../../names/name-rule.js';
import type { ContextCapabilities } from '../../queries/use-capabilities.js';
import { Field, helpId } from '../../ui/field.js';
import { SelectInput } from '../../ui/inputs.js';
import type { Identity } from '../form-fields.js';
import { TextField } from './text-field.js';

interface IdentityFieldsProps {
  form: Identity;
  onChange: (change: Partial<Identity>) => void;
  problems: FieldErrors<keyof Identity>;
  /** The contexts to choose from. */
  contexts: readonly ContextCapabilities[];
  /** Namespaces that already have instances. */
  namespaces: readonly string[];
}

/** The name of an instance and where it is created. */
export function IdentityFields({ form, onChange, problems, contexts, namespaces }: IdentityFieldsProps) {
  const target = contexts.find(({ context }) => context === form.context);
  const maxLength = target?.instanceNames.maxLength ?? MAX_NAME_LENGTH;
  return (
    <div className="hg-grid hg-grid--identity">
      <TextField
        id="name"
        label={t`Name`}
        required
        value={form.name}
        onChange={(name) => onChange({ name })}
        problem={problems.name}
        hint={form.name === '' ? t`a-z, 0-9, and "-"` : t`${form.name.length} of ${maxLength} characters`}
      />
      {target && !target.namespaces.isOnlyOne && (
        <TextField
          id="namespace"
          label={t`Namespace`}
          placeholder={target.namespaces.default}
          suggestions={namespaces}
          value={form.namespace}
          onChange={(namespace) => onChange({ namespace })}
          problem={problems.namespace}
        />
      )}
      {contexts.length > 1 && (
        <Field label={t`Context`} id="context" problem={problems.context}>
          <SelectInput
            id="context"
            value={form.context}
            aria-describedby={helpId('context')}
            onChange={(context) => onChange({ context })}
          >
            {contexts.map(({ context, label, up }) => (
              <option key={context} value={context} disabled={!up} translate={up ? 'no' : undefined}>
                {up ? `${context} (${label})` : t`${context} (${label}, unreachable)`}
              </option>
            ))}
          </SelectInput>
        </Field>
      )}
    </div>
  );
}
