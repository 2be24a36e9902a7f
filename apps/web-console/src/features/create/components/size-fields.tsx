import { Grid, GridItem, TextInput } from '@patternfly/react-core';
import { describedBy, Field } from '../../../shared/ui/field.js';
import type { FormPartProps } from './identity-fields.js';
import { QuantityInput } from './quantity-input.js';

/** How big it is. An instance type decides about CPU and memory itself; an existing volume has its size. */
export function SizeFields({ form, onChange, problems }: FormPartProps) {
  const typed = form.instancetype !== '';
  const byType = typed ? `As ${form.instancetype} says` : undefined;
  return (
    <Grid hasGutter sm={4}>
      <GridItem>
        <Field label="CPUs" id="cpu" problem={problems.cpu} hint={byType}>
          <TextInput
            id="cpu"
            type="number"
            min={1}
            max={512}
            value={form.cpu}
            isDisabled={typed}
            validated={problems.cpu ? 'error' : 'default'}
            aria-describedby={describedBy('cpu')}
            onChange={(_event, cpu) => onChange({ cpu })}
          />
        </Field>
      </GridItem>
      <GridItem>
        <Field label="Memory" id="mem" problem={problems.mem} hint={byType}>
          <QuantityInput
            id="mem"
            label="memory"
            value={form.mem}
            disabled={typed}
            invalid={problems.mem !== undefined}
            onChange={(mem) => onChange({ mem })}
          />
        </Field>
      </GridItem>
      <GridItem>
        <Field
          label="Disk"
          id="disk"
          problem={problems.disk}
          hint={form.source === 'pvc' ? 'As the volume is' : undefined}
        >
          <QuantityInput
            id="disk"
            label="disk"
            value={form.disk}
            disabled={form.source === 'pvc'}
            invalid={problems.disk !== undefined}
            onChange={(disk) => onChange({ disk })}
          />
        </Field>
      </GridItem>
    </Grid>
  );
}
