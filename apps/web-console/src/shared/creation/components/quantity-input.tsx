import { t } from '@lingui/core/macro';
import { helpId } from '../../ui/field.js';
import { SelectInput, TextInput } from '../../ui/inputs.js';
import { joinQuantity, splitQuantity, UNITS } from '../quantity-parts.js';

interface QuantityInputProps {
  id: string;
  label: string;
  value: string;
  onChange: (quantity: string) => void;
  isInvalid: boolean;
  isDisabled?: boolean;
}

/** An amount and its unit. The user may also type or paste both at the same time, such as "512Mi". */
export function QuantityInput({ id, label, value, onChange, isInvalid, isDisabled = false }: QuantityInputProps) {
  const { amount, unit } = splitQuantity(value);
  return (
    <div className="hg-input-group">
      <TextInput
        id={id}
        value={amount}
        inputMode="decimal"
        isDisabled={isDisabled}
        isInvalid={isInvalid}
        aria-describedby={helpId(id)}
        onChange={(text) => onChange(joinQuantity(text, unit))}
      />
      <SelectInput
        className="hg-unit"
        aria-label={t`${label} unit`}
        value={unit}
        isDisabled={isDisabled}
        onChange={(next) => onChange(`${amount}${next}`)}
      >
        {UNITS.map((one) => (
          <option key={one} value={one}>{`${one}B`}</option>
        ))}
      </SelectInput>
    </div>
  );
}
