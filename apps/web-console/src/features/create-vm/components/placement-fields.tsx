import { FormSelect, FormSelectOption, Grid, GridItem } from '@patternfly/react-core';
import { messageOf } from '../../../shared/api/api-error.js';
import type { ContextAbilities } from '../../../shared/queries/use-capabilities.js';
import { useNodes } from '../../../shared/queries/use-nodes.js';
import { describedBy, Field } from '../../../shared/ui/field.js';
import { useInstancetypes } from '../api/use-instancetypes.js';
import type { FormPartProps } from '../vm-form.js';

interface PlacementFieldsProps extends FormPartProps {
  readonly context: ContextAbilities | undefined;
}

/** Where it runs and what it is modelled on: only what the context really has. */
export function PlacementFields({ context, form, onChange, problems }: PlacementFieldsProps) {
  const isCluster = context?.backend === 'kubevirt';
  const { data: types, error: typesError } = useInstancetypes(context?.context ?? '', isCluster);
  const { data: nodes = [], error: nodesError } = useNodes({ enabled: isCluster });
  const here = nodes.filter((node) => node.context === context?.context).map(({ name }) => name);
  if (!isCluster) return null;
  const lists = [
    {
      field: 'instancetype',
      label: 'Instance type',
      none: 'None: CPU and memory as above',
      names: types?.instancetypes ?? [],
      error: typesError,
    },
    { field: 'preference', label: 'Preference', none: 'None', names: types?.preferences ?? [], error: typesError },
    { field: 'node', label: 'Node', none: 'Any: the scheduler chooses', names: here, error: nodesError },
  ] as const;

  return (
    <Grid hasGutter sm={4}>
      {lists.map(({ field, label, none, names, error }) => (
        <GridItem key={field}>
          <Field label={label} id={field} problem={problems[field] ?? (error ? messageOf(error) : undefined)}>
            <FormSelect
              id={field}
              value={form[field]}
              aria-describedby={describedBy(field)}
              isDisabled={names.length === 0}
              onChange={(_event, value) => onChange({ [field]: value })}
            >
              <FormSelectOption value="" label={none} />
              {names.map((name) => (
                <FormSelectOption key={name} value={name} label={name} />
              ))}
            </FormSelect>
          </Field>
        </GridItem>
      ))}
    </Grid>
  );
}
