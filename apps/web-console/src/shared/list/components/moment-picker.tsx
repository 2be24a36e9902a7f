import { t } from '@lingui/core/macro';
import { useId } from 'react';
import { Field } from '../../ui/field.js';
import { LabeledInput } from '../../ui/labeled-input.js';
import { fieldsOf, MINUTES_OF_A_DAY, momentOf, type MomentFields } from '../moment-fields.js';

interface MomentPickerProps {
  /** In ISO 8601. */
  at: string;
  onChange: (at: string) => void;
}

/** Chooses a day, and with a slider the minute in it. */
export function MomentPicker({ at, onChange }: MomentPickerProps) {
  const id = useId();
  const fields = fieldsOf(at) ?? fieldsOf(new Date().toISOString())!;
  const change = (part: Partial<MomentFields>): void => {
    const next = momentOf({ ...fields, ...part }, Date.now());
    if (next !== undefined) onChange(next);
  };
  return (
    <div className="hg-toolbar hg-toolbar--fields hg-past-moment">
      <LabeledInput label={t`Day`} type="date" value={fields.day} onChange={(day) => change({ day })} />
      <Field label={t`Time of day`} id={id}>
        <input
          id={id}
          type="range"
          className="hg-past-slider"
          min={0}
          max={MINUTES_OF_A_DAY - 1}
          value={fields.minute}
          aria-valuetext={timeOf(fields)}
          onChange={(event) => change({ minute: Number(event.target.value) })}
        />
      </Field>
      <output htmlFor={id} translate="no">
        {timeOf(fields)}
      </output>
    </div>
  );
}

const timeOf = ({ minute }: MomentFields): string =>
  [Math.floor(minute / 60), minute % 60].map((part) => String(part).padStart(2, '0')).join(':');
