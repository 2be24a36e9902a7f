import { t } from '@lingui/core/macro';
import { isAdministrator, useWhoami } from '../../queries/use-whoami.js';
import { Field, helpId } from '../../ui/field.js';
import { SelectInput, Switch } from '../../ui/inputs.js';
import type { BulkRequest } from '../bulk-request.js';
import type { BulkChoices } from '../bulk-options.js';
import { perLanguage } from '../../texts/per-language.js';

const paces = perLanguage((): Readonly<Record<string, string>> => ({
  '1': t`One at a time`,
  '2': t`Two`,
  '8': t`Eight`,
  '32': '32',
}));

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
    <fieldset className="hg-options-group" aria-label={t`Order`}>
      <Field label={t`At the same time`} id="bulk-at-once">
        <SelectInput
          id="bulk-at-once"
          value={choices.atOnce}
          aria-describedby={helpId('bulk-at-once')}
          onChange={(atOnce) => change({ atOnce })}
        >
          {Object.entries(paces()).map(([value, label]) => (
            <option key={value} value={value}>
              {label}
            </option>
          ))}
        </SelectInput>
      </Field>
      {BECOMES_READY.includes(action) && (
        <Switch
          id="bulk-wait-ready"
          label={t`Wait until each one is ready before the next`}
          isChecked={choices.waitReady}
          onChange={(waitReady) => change({ waitReady })}
        />
      )}
      <Switch
        id="bulk-stop-on-error"
        label={t`Stop after the first failure`}
        isChecked={choices.stopOnError}
        onChange={(stopOnError) => change({ stopOnError })}
      />
      {isAdministrator(whoami) && (
        <Field label={t`Begin at`} id="bulk-at" hint={t`Empty: immediately`}>
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
