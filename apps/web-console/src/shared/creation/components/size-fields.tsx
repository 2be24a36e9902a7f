import { Grid, GridItem, TextInput } from '@patternfly/react-core';
import type { FieldErrors } from '../../api/field-errors.js';
import { describedBy, Field } from '../../ui/field.js';
import { MAX_CPUS } from '../form-problems.js';
import { QuantityInput } from './quantity-input.js';

export interface Sizes {
  readonly cpu: string;
  readonly mem: string;
  readonly disk: string;
}

interface SizeFieldsProps {
  form: Sizes;
  onChange: (change: Partial<Sizes>) => void;
  problems: FieldErrors<keyof Sizes>;
  diskLabel?: string;
  diskHint?: string;
  /** Who decides about CPU and memory, or about the disk, instead of these fields. */
  decided?: { readonly compute?: string | undefined; readonly disk?: string | undefined };
}

/** How big it is. */
export function SizeFields({ form, onChange, problems, diskLabel = 'Disk', diskHint, decided = {} }: SizeFieldsProps) {
  const { compute, disk } = decided;
  return (
    <Grid hasGutter sm={4}>
      <GridItem>
        <Field label="CPUs" id="cpu" problem={problems.cpu} hint={compute}>
          <TextInput
            id="cpu"
            type="number"
            min={1}
            max={MAX_CPUS}
            value={form.cpu}
            isDisabled={compute !== undefined}
            validated={problems.cpu ? 'error' : 'default'}
            aria-describedby={describedBy('cpu')}
            onChange={(_event, cpu) => onChange({ cpu })}
          />
        </Field>
      </GridItem>
      <GridItem>
        <Field label="Memory" id="mem" problem={problems.mem} hint={compute}>
          <QuantityInput
            id="mem"
            label="memory"
            value={form.mem}
            disabled={compute !== undefined}
            invalid={problems.mem !== undefined}
            onChange={(mem) => onChange({ mem })}
          />
        </Field>
      </GridItem>
      <GridItem>
        <Field label={diskLabel} id="disk" problem={problems.disk} hint={disk ?? diskHint}>
          <QuantityInput
            id="disk"
            label={diskLabel.toLowerCase()}
            value={form.disk}
            disabled={disk !== undefined}
            invalid={problems.disk !== undefined}
            onChange={(value) => onChange({ disk: value })}
          />
        </Field>
      </GridItem>
    </Grid>
  );
}
