import { t } from '@lingui/core/macro';
import type { CreatedWebhookView, CreateWebhookDto } from '@headgate/api-contracts';
import { useState } from 'react';
import { nameProblem } from '../../../shared/names/name-rule.js';
import { ErrorAlert } from '../../../shared/ui/error-alert.js';
import { LabeledInput } from '../../../shared/ui/labeled-input.js';
import { ReasonedButton } from '../../../shared/ui/reasoned-button.js';
import { createWebhook } from '../api/webhook-requests.js';
import { scopeOf } from './webhook-scope-form.js';
import { perLanguage } from '../../../shared/texts/per-language.js';

type Event = CreateWebhookDto['events'][number];

export const webhookEvents = perLanguage((): Readonly<Record<Event, string>> => ({
  'task.ended': t`A task ended`,
  'instance.changed': t`An instance changed`,
  'instance.removed': t`An instance was removed`,
}));

/** Creates a webhook. */
export function WebhookForm({ onCreated }: { onCreated: (webhook: CreatedWebhookView) => void }) {
  const [name, setName] = useState('');
  const [url, setUrl] = useState('');
  const [folder, setFolder] = useState('');
  const [words, setWords] = useState('');
  const [events, setEvents] = useState<readonly Event[]>(['task.ended']);
  const [error, setError] = useState<unknown>();
  const [isCreating, setIsCreating] = useState(false);

  const isIncomplete = name === '' || url.trim() === '';
  const reason = isIncomplete
    ? t`Enter a name and a URL first.`
    : (nameProblem(name) ?? (events.length === 0 ? t`Choose at least one event.` : undefined));

  const create = async (): Promise<void> => {
    setIsCreating(true);
    setError(undefined);
    const scope = scopeOf(folder, words);
    try {
      onCreated(
        await createWebhook({
          name,
          url: url.trim(),
          events: [...events],
          ...(Object.keys(scope).length > 0 && { scope }),
        }),
      );
    } catch (problem) {
      setError(problem);
    } finally {
      setIsCreating(false);
    }
  };

  return (
    <form
      aria-label={t`New webhook`}
      onSubmit={(event) => {
        event.preventDefault();
        if (reason === undefined && !isCreating) void create();
      }}
    >
      {error !== undefined && <ErrorAlert title={t`Couldn't create the webhook`} error={error as Error} />}
      <fieldset className="hg-toolbar hg-gap-below">
        <legend>{t`Events`}</legend>
        {Object.entries(webhookEvents()).map(([event, label]) => (
          <label key={event}>
            <input
              type="checkbox"
              checked={events.includes(event as Event)}
              onChange={({ target }) =>
                setEvents((before) =>
                  target.checked ? [...before, event as Event] : before.filter((one) => one !== event),
                )
              }
            />{' '}
            {label}
          </label>
        ))}
      </fieldset>
      <div className="hg-toolbar hg-toolbar--fields">
        <LabeledInput label={t`Name`} aria-label={t`Name of the new webhook`} value={name} onChange={setName} />
        <LabeledInput label="URL" placeholder="https://" value={url} onChange={setUrl} />
        <LabeledInput label={t`Folder`} placeholder={t`All`} value={folder} onChange={setFolder} />
        <LabeledInput label={t`Search words`} placeholder={t`All`} value={words} onChange={setWords} />
        <ReasonedButton variant="secondary" type="submit" reason={reason}>
          {t`Create webhook`}
        </ReasonedButton>
      </div>
    </form>
  );
}
