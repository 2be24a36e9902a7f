import type { CreatedWebhookView, CreateWebhookDto } from '@headgate/api-contracts';
import { useState } from 'react';
import { nameProblem } from '../../../shared/names/name-rule.js';
import { ErrorAlert } from '../../../shared/ui/error-alert.js';
import { LabeledInput } from '../../../shared/ui/labeled-input.js';
import { ReasonedButton } from '../../../shared/ui/reasoned-button.js';
import { createWebhook } from '../api/webhook-requests.js';

type Event = CreateWebhookDto['events'][number];

export const EVENTS: Readonly<Record<Event, string>> = {
  'task.ended': 'A task ended',
  'instance.changed': 'An instance changed',
  'instance.removed': 'An instance was removed',
};

/** Creates a webhook. */
export function WebhookForm({ onCreated }: { onCreated: (webhook: CreatedWebhookView) => void }) {
  const [name, setName] = useState('');
  const [url, setUrl] = useState('');
  const [events, setEvents] = useState<readonly Event[]>(['task.ended']);
  const [error, setError] = useState<unknown>();
  const [isCreating, setIsCreating] = useState(false);

  const isIncomplete = name === '' || url.trim() === '';
  const reason = isIncomplete
    ? 'Enter a name and a URL first.'
    : (nameProblem(name) ?? (events.length === 0 ? 'Choose at least one event.' : undefined));

  const create = async (): Promise<void> => {
    setIsCreating(true);
    setError(undefined);
    try {
      onCreated(await createWebhook({ name, url: url.trim(), events: [...events] }));
    } catch (problem) {
      setError(problem);
    } finally {
      setIsCreating(false);
    }
  };

  return (
    <form
      aria-label="New webhook"
      onSubmit={(event) => {
        event.preventDefault();
        if (reason === undefined && !isCreating) void create();
      }}
    >
      {error !== undefined && <ErrorAlert title="Couldn't create the webhook" error={error as Error} />}
      <fieldset className="hg-toolbar hg-gap-below">
        <legend>Events</legend>
        {Object.entries(EVENTS).map(([event, label]) => (
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
        <LabeledInput label="Name" aria-label="Name of the new webhook" value={name} onChange={setName} />
        <LabeledInput label="URL" placeholder="https://" value={url} onChange={setUrl} />
        <ReasonedButton variant="secondary" type="submit" reason={reason}>
          Create webhook
        </ReasonedButton>
      </div>
    </form>
  );
}
