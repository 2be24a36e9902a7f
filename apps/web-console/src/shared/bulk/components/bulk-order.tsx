import { isAdministrator, useWhoami } from '../../queries/use-whoami.js';
import { Field, helpId } from '../../ui/field.js';
import { SelectInput, Switch } from '../../ui/inputs.js';
import type { BulkRequest } from '../bulk-request.js';
import type { BulkChoices } from '../bulk-options.js';

const AT_ONCE: Readonly<Record<string, string>> = { '1': 'One at a time', '2': 'Two', '8': 'Eight', '32': '32' };

/** The actions after which an instance becomes ready. */
const BECOMES_READY: readonly BulkRequest['action'][] = ['start', 'restart'];

interface BulkOrderProps {
  action: BulkRequest['action'];
  choices: BulkChoices;
  onChange: (choices: BulkChoices) => void;
}

/** How many instances at a time, what to wait for, when to stop, and when to begin. */
export function BulkOrder({ action, choices, onChange }: BulkOrderProps) {
  const { data: whoami } = useWhoami();
  const change = (part: Partial<BulkChoices>): void => onChange({ ...choices, ...part });
  return (
    <fieldset className="hg-options-group" aria-label="Order">
      <Field label="At the same time" id="bulk-at-once">
        <SelectInput
          id="bulk-at-once"
          value={choices.atOnce}
          aria-describedby={helpId('bulk-at-once')}
          onChange={(atOnce) => change({ atOnce })}
        >
          {Object.entries(AT_ONCE).map(([value, label]) => (
            <option key={value} value={value}>
              {label}
            </option>
          ))}
        </SelectInput>
      </Field>
      {BECOMES_READY.includes(action) && (
        <Switch
          id="bulk-wait-ready"
          label="Wait until each one is ready before the next"
          isChecked={choices.waitReady}
          onChange={(waitReady) => change({ waitReady })}
        />
      )}
      <Switch
        id="bulk-stop-on-error"
        label="Stop after the first failure"
        isChecked={choices.stopOnError}
        onChange={(stopOnError) => change({ stopOnError })}
      />
      {isAdministrator(whoami) && (
        <Field label="Begin at" id="bulk-at" hint="Empty: immediately">
          <input
            id="bulk-at"
            type="datetime-local"
            className="hg-input"
            value={choices.at}
            aria-describedby={helpId('bulk-at')}
            onChange={({ target }) => change({ at: target.value })}
          />
        </Field>
      )}
    </fieldset>
  );
}
