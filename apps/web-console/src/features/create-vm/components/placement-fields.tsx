import { messageOf } from '../../../shared/api/api-error.js';
import type { ContextCapabilities } from '../../../shared/queries/use-capabilities.js';
import { useNodes } from '../../../shared/queries/use-nodes.js';
import { Field, helpId } from '../../../shared/ui/field.js';
import { SelectInput } from '../../../shared/ui/inputs.js';
import { useInstancetypes } from '../api/use-instancetypes.js';
import type { FormPartProps } from '../vm-form.js';

interface PlacementFieldsProps extends FormPartProps {
  readonly context: ContextCapabilities | undefined;
}

/** Instance type, preference, and node. Offers only what the context has. */
export function PlacementFields({ context, form, onChange, problems }: PlacementFieldsProps) {
  const isCluster = context?.backend === 'kubevirt';
  const { data: types, error: typesError } = useInstancetypes(context?.context ?? '', isCluster);
  const { data: nodes = [], error: nodesError } = useNodes({ enabled: isCluster });
  const nodeNames = nodes.filter((node) => node.context === context?.context).map(({ name }) => name);
  if (!isCluster) return null;
  const lists = [
    {
      field: 'instancetype',
      label: 'Instance type',
      none: 'None (use the CPU and memory above)',
      names: types?.instancetypes ?? [],
      error: typesError,
    },
    { field: 'preference', label: 'Preference', none: 'None', names: types?.preferences ?? [], error: typesError },
    { field: 'node', label: 'Node', none: 'Any (chosen by the scheduler)', names: nodeNames, error: nodesError },
  ] as const;

  return (
    <div className="hg-grid hg-grid--thirds">
      {lists.map(({ field, label, none, names, error }) => (
        <Field key={field} label={label} id={field} problem={problems[field] ?? (error ? messageOf(error) : undefined)}>
          <SelectInput
            id={field}
            value={form[field]}
            aria-describedby={helpId(field)}
            isDisabled={names.length === 0}
            onChange={(value) => onChange({ [field]: value })}
          >
            <option value="">{none}</option>
            {names.map((name) => (
              <option key={name} value={name}>
                {name}
              </option>
            ))}
          </SelectInput>
        </Field>
      ))}
    </div>
  );
}
