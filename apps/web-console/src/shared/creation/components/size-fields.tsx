import { t } from '@lingui/core/macro';
import type { FieldErrors } from '../../api/field-errors.js';
import { Field, helpId } from '../../ui/field.js';
import { TextInput } from '../../ui/inputs.js';
import type { Sizes } from '../form-fields.js';
import { MAX_CPUS } from '../form-problems.js';
import { QuantityInput } from './quantity-input.js';

interface SizeFieldsProps {
  form: Sizes;
  onChange: (change: Partial<Sizes>) => void;
  problems: FieldErrors<keyof Sizes>;
  diskLabel?: string;
  diskHint?: string;
  /** Why CPU and memory, or the disk, can't be chosen here. */
  fixed?: { readonly compute?: string | undefined; readonly disk?: string | undefined };
}

/** CPU, memory, and disk. */
export function SizeFields({ form, onChange, problems, diskLabel = t`Disk`, diskHint, fixed = {} }: SizeFieldsProps) {
  const { compute, disk } = fixed;
  return (
    <div className="hg-grid hg-grid--thirds">
      <Field label="CPUs" id="cpu" problem={problems.cpu} hint={compute}>
        <TextInput
          id="cpu"
          type="number"
          min={1}
          max={MAX_CPUS}
          value={form.cpu}
          isDisabled={compute !== undefined}
          isInvalid={problems.cpu !== undefined}
          aria-describedby={helpId('cpu')}
          onChange={(cpu) => onChange({ cpu })}
        />
      </Field>
      <Field label={t`Memory`} id="mem" problem={problems.mem} hint={compute}>
        <QuantityInput
          id="mem"
          label={t`Memory`}
          value={form.mem}
          isDisabled={compute !== undefined}
          isInvalid={problems.mem !== undefined}
          onChange={(mem) => onChange({ mem })}
        />
      </Field>
      <Field label={diskLabel} id="disk" problem={problems.disk} hint={disk ?? diskHint}>
        <QuantityInput
          id="disk"
          label={diskLabel}
          value={form.disk}
          isDisabled={disk !== undefined}
          isInvalid={problems.disk !== undefined}
          onChange={(value) => onChange({ disk: value })}
        />
      </Field>
    </div>
  );
}
