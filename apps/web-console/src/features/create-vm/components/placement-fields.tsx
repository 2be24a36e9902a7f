import { inSentence } from '../../../shared/texts/in-sentence.js';
import { t } from '@lingui/core/macro';
import { messageOf } from '../../../shared/api/api-error.js';
import type { ContextCapabilities } from '../../../shared/queries/use-capabilities.js';
import { useNodes } from '../../../shared/queries/use-nodes.js';
import { Field, helpId } from '../../../shared/ui/field.js';
import { SelectInput } from '../../../shared/ui/inputs.js';
import { useInstancetypes } from '../api/use-instancetypes.js';
import type { FormPartProps } from '../vm-form.js';
import { perLanguage } from '../../../shared/texts/per-language.js';

type PlacementField = ContextCapabilities['placementFields'][number];

const wording = perLanguage(
  (): Readonly<Record<PlacementField, { readonly label: string; readonly none: string }>> => ({
    instancetype: { label: t`Instance type`, none: t`None (use the CPU and memory above)` },
    preference: { label: t`Preference`, none: t`None` },
    node: { label: t`Node`, none: t`Any (chosen by the scheduler)` },
  }),
);

/** A label such as "Instance type, preference, node". */
export function placementLabel(fields: readonly PlacementField[]): string {
  const text = fields.map((field) => inSentence(wording()[field].label)).join(', ');
  return text.charAt(0).toUpperCase() + text.slice(1);
}

interface PlacementFieldsProps extends FormPartProps {
  readonly context: ContextCapabilities;
}

/** The fields that only some backends have. Offers only the values of the context. */
export function PlacementFields({ context, form, onChange, problems }: PlacementFieldsProps) {
  const { placementFields: fields } = context;
  const hasTypes = fields.includes('instancetype') || fields.includes('preference');
  const { data: types, error: typesError } = useInstancetypes(context.context, hasTypes);
  const { data: nodes = [], error: nodesError } = useNodes({ enabled: fields.includes('node') });
  const values: Readonly<Record<PlacementField, { names: readonly string[]; error: Error | null }>> = {
    instancetype: { names: types?.instancetypes ?? [], error: typesError },
    preference: { names: types?.preferences ?? [], error: typesError },
    node: {
      names: nodes.filter((node) => node.context === context.context).map(({ name }) => name),
      error: nodesError,
    },
  };

  return (
    <div className="hg-grid hg-grid--thirds">
      {fields.map((field) => {
        const { label, none } = wording()[field];
        const { names, error } = values[field];
        return (
          <Field
            key={field}
            label={label}
            id={field}
            problem={problems[field] ?? (error ? messageOf(error) : undefined)}
          >
            <SelectInput
              id={field}
              value={form[field]}
              aria-describedby={helpId(field)}
              isDisabled={names.length === 0}
              onChange={(value) => onChange({ [field]: value })}
            >
              <option value="">{none}</option>
              {names.map((name) => (
                <option key={name} value={name} translate="no">
                  {name}
                </option>
              ))}
            </SelectInput>
          </Field>
        );
      })}
    </div>
  );
}
