import { t } from '@lingui/core/macro';
import type { CreatedTokenView, CreateTokenDto } from '@headgate/api-contracts';
import { useState } from 'react';
import { nameProblem } from '../../../shared/names/name-rule.js';
import { ErrorAlert } from '../../../shared/ui/error-alert.js';
import { LabeledInput } from '../../../shared/ui/labeled-input.js';
import { ReasonedButton } from '../../../shared/ui/reasoned-button.js';
import { createToken } from '../api/token-requests.js';
import { tokenActions } from '../../../shared/texts/action-names.js';
import { LeashFields, leashOf, leashProblem, NEW_LEASH, type LeashDraft } from './leash-fields.js';

type Action = CreateTokenDto['actions'][number];

const DEFAULT_DAYS = '90';
const MAX_DAYS = 366;

/** Creates an API token. */
export function TokenForm({ onCreated }: { onCreated: (token: CreatedTokenView) => void }) {
  const [name, setName] = useState('');
  const [folder, setFolder] = useState('');
  const [words, setWords] = useState('');
  const [addresses, setAddresses] = useState('');
  const [leash, setLeash] = useState<LeashDraft>();
  const [days, setDays] = useState(DEFAULT_DAYS);
  const [actions, setActions] = useState<readonly Action[]>(['read']);
  const [error, setError] = useState<unknown>();
  const [isCreating, setIsCreating] = useState(false);

  const isValidTime = /^\d+$/.test(days) && Number(days) >= 1 && Number(days) <= MAX_DAYS;
  const reason =
    name === ''
      ? t`Enter a name first.`
      : (nameProblem(name) ??
        (actions.length === 0
          ? t`Choose at least one right.`
          : isValidTime
            ? leash && leashProblem(leash)
            : t`A token is valid for 1 to ${MAX_DAYS} days.`));

  const create = async (): Promise<void> => {
    setIsCreating(true);
    setError(undefined);
    const scope = { ...(folder === '' ? {} : { folder }), ...(words.trim() === '' ? {} : { q: words.trim() }) };
    try {
      const from = addresses.split(/[\s,]+/).filter(Boolean);
      onCreated(
        await createToken({
          name,
          actions: [...actions],
          scope,
          ...(from.length > 0 && { addresses: from }),
          days: Number(days),
          ...(leash && { agent: leashOf(leash) }),
        }),
      );
    } catch (problem) {
      setError(problem);
    } finally {
      setIsCreating(false);
    }
  };

  return (
    <>
      {error !== undefined && <ErrorAlert title={t`Couldn't create the API token`} error={error as Error} />}
      <form
        aria-label={t`New API token`}
        onSubmit={(event) => {
          event.preventDefault();
          if (reason === undefined && !isCreating) void create();
        }}
      >
        <fieldset className="hg-toolbar hg-gap-below">
          <legend>{t`Rights`}</legend>
          {Object.entries(tokenActions()).map(([action, label]) => (
            <label key={action}>
              <input
                type="checkbox"
                checked={actions.includes(action as Action)}
                onChange={({ target }) =>
                  setActions((before) =>
                    target.checked ? [...before, action as Action] : before.filter((one) => one !== action),
                  )
                }
              />{' '}
              {label}
            </label>
          ))}
        </fieldset>
        <label className="hg-check">
          <input
            type="checkbox"
            checked={leash !== undefined}
            onChange={({ target }) => setLeash(target.checked ? NEW_LEASH : undefined)}
          />{' '}
          {t`For an agent, which changes only what it has rehearsed`}
        </label>
        {leash && <LeashFields leash={leash} onChange={setLeash} />}
        <div className="hg-toolbar hg-toolbar--fields">
          <LabeledInput label={t`Name`} value={name} onChange={setName} />
          <LabeledInput label={t`Folder`} placeholder={t`All`} value={folder} onChange={setFolder} />
          <LabeledInput label={t`Search words`} placeholder={t`All`} value={words} onChange={setWords} />
          <LabeledInput
            label={t`Addresses`}
            placeholder={t`All, or such as ${'10.0.0.0/8'}`}
            value={addresses}
            onChange={setAddresses}
          />
          <LabeledInput label={t`Valid for (days)`} inputMode="numeric" value={days} onChange={setDays} />
          <ReasonedButton variant="secondary" type="submit" reason={reason}>
            {t`Create token`}
          </ReasonedButton>
        </div>
      </form>
    </>
  );
}
