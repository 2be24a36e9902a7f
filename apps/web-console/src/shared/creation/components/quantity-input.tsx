import { FormSelect, FormSelectOption, InputGroup, InputGroupItem, TextInput } from '@patternfly/react-core';
import { describedBy } from '../../ui/field.js';
import { joinQuantity, splitQuantity, UNITS } from '../quantity-parts.js';

interface QuantityInputProps {
  id: string;
  label: string;
  value: string;
  onChange: (quantity: string) => void;
  invalid: boolean;
  disabled?: boolean;
}

/** An amount and its unit. «512Mi» may be typed or pasted whole. */
export function QuantityInput({ id, label, value, onChange, invalid, disabled = false }: QuantityInputProps) {
  const { amount, unit } = splitQuantity(value);
  return (
    <InputGroup>
      <InputGroupItem isFill>
        <TextInput
          id={id}
          value={amount}
          inputMode="decimal"
          isDisabled={disabled}
          validated={invalid ? 'error' : 'default'}
          aria-describedby={describedBy(id)}
          onChange={(_event, text) => onChange(joinQuantity(text, unit))}
        />
      </InputGroupItem>
      <InputGroupItem>
        <FormSelect
          className="hg-unit"
          aria-label={`Unit of ${label}`}
          value={unit}
          isDisabled={disabled}
          onChange={(_event, next) => onChange(`${amount}${next}`)}
        >
          {UNITS.map((one) => (
            <FormSelectOption key={one} value={one} label={`${one}B`} />
          ))}
        </FormSelect>
      </InputGroupItem>
    </InputGroup>
  );
}
