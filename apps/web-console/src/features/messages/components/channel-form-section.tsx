import { t } from '@lingui/core/macro';
import type { MessageChannelView } from '@headgate/api-contracts';
import { useState } from 'react';
import { TextField } from '../../../shared/creation/components/text-field.js';
import { PlannedChangePanel, type ConfirmedRequest } from '../../../shared/plans/planned-change-panel.js';
import { Button } from '../../../shared/ui/button.js';
import { Field } from '../../../shared/ui/field.js';
import { SelectInput } from '../../../shared/ui/inputs.js';
import { ReasonedButton } from '../../../shared/ui/reasoned-button.js';
import { changingChannel, creatingChannel } from '../api/message-requests.js';
import { EMPTY_CHANNEL, formOf, problemOf, requestOf, type ChannelForm } from '../channel-form.js';
import { channelKinds } from '../message-wording.js';
import { TargetFields } from './target-fields.js';

interface ChannelFormSectionProps {
  /** The channel that is changed; undefined for a new one. */
  channel: MessageChannelView | undefined;
  onSaved: () => void;
  onCancel: () => void;
}

/** Creates a channel, or changes one. It keeps its values until the change is carried out. */
export function ChannelFormSection({ channel, onSaved, onCancel }: ChannelFormSectionProps) {
  const [form, setForm] = useState<ChannelForm>(() => (channel ? formOf(channel) : EMPTY_CHANNEL));
  const [request, setRequest] = useState<ConfirmedRequest>();
  const change = (part: Partial<ChannelForm>): void => setForm((before) => ({ ...before, ...part }));
  const reason = problemOf(form);
  const known = channel?.name;
  const title = known === undefined ? t`New channel` : t`Change ${known}`;

  const propose = (): void => {
    const name = form.name.trim();
    const order = requestOf(form, channel);
    setRequest(
      channel
        ? {
            title: t`Change ${name}?`,
            label: t`Save changes`,
            done: t`${name} was changed`,
            ...changingChannel(channel.id, order),
          }
        : { title: t`Create ${name}?`, label: t`Create`, done: t`${name} was created`, ...creatingChannel(order) },
    );
  };

  return (
    <>
      <form
        aria-label={title}
        className="hg-form hg-form--narrow"
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          if (reason === undefined) propose();
        }}
      >
        <h3>{title}</h3>
        <TextField id="channel-name" label={t`Name`} required value={form.name} onChange={(name) => change({ name })} />
        {!channel && (
          <Field label={t`Kind`} id="channel-kind">
            <SelectInput
              id="channel-kind"
              value={form.kind}
              onChange={(kind) => change({ kind: kind as ChannelForm['kind'], secret: '' })}
            >
              {Object.entries(channelKinds()).map(([kind, label]) => (
                <option key={kind} value={kind}>
                  {label}
                </option>
              ))}
            </SelectInput>
          </Field>
        )}
        <TargetFields form={form} hasSecret={channel?.target?.hasSecret ?? false} onChange={change} />
        <label>
          <input type="checkbox" checked={form.shared} onChange={({ target }) => change({ shared: target.checked })} />{' '}
          {t`All users may send to it by their rules`}
        </label>
        <div className="hg-toolbar">
          <ReasonedButton type="submit" reason={reason}>
            {t`Show the plan`}
          </ReasonedButton>
          {channel && (
            <Button variant="secondary" onClick={onCancel}>
              {t`Cancel`}
            </Button>
          )}
        </div>
      </form>
      {request && (
        <PlannedChangePanel
          change={request}
          failure={t`Couldn't save the channel`}
          onClose={() => setRequest(undefined)}
          onChanged={() => {
            setForm(EMPTY_CHANNEL);
            onSaved();
          }}
        />
      )}
    </>
  );
}
