import { t } from '@lingui/core/macro';
import type { DestinationView } from '@headgate/api-contracts';
import { messageOf } from '../../api/api-error.js';
import { Field, helpId } from '../../ui/field.js';
import { SelectInput } from '../../ui/inputs.js';
import { useDestinations, type MovedKind } from '../move-requests.js';

interface DestinationFieldProps {
  kind: MovedKind;
  /** The chosen context; empty before one is. */
  value: string;
  onChange: (context: string, destination: DestinationView | undefined) => void;
}

/** The choice of the context that instances of the kind are moved to. */
export function DestinationField({ kind, value, onChange }: DestinationFieldProps) {
  const { data: destinations = [], error } = useDestinations(kind);
  return (
    <Field label={t`Destination`} id="move-destination" required problem={error ? messageOf(error) : undefined}>
      <SelectInput
        id="move-destination"
        value={value}
        aria-describedby={helpId('move-destination')}
        onChange={(context) =>
          onChange(
            context,
            destinations.find((one) => one.context === context),
          )
        }
      >
        <option value="">{t`Choose a context`}</option>
        {destinations.map((one) => (
          <option key={one.context} value={one.context} disabled={!one.can} translate={one.can ? 'no' : undefined}>
            {`${one.context} (${one.can ? one.backend : (one.reason ?? t`not available`)})`}
          </option>
        ))}
      </SelectInput>
    </Field>
  );
}
