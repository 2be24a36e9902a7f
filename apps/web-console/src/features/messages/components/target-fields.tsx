import { t } from '@lingui/core/macro';
import { TextField } from '../../../shared/creation/components/text-field.js';
import { Field, helpId } from '../../../shared/ui/field.js';
import { SelectInput, TextInput } from '../../../shared/ui/inputs.js';
import { useWebhookChoices } from '../api/message-requests.js';
import type { ChannelForm } from '../channel-form.js';

/** Names of protocols, the same in all languages. */
const SECURITY_NAMES = { starttls: 'STARTTLS', tls: 'TLS' } as const;

interface TargetFieldsProps {
  form: ChannelForm;
  /** Whether the service has a password or a token of the channel. */
  hasSecret: boolean;
  onChange: (part: Partial<ChannelForm>) => void;
}

/** The settings of the kind of a channel. */
export function TargetFields({ form, hasSecret, onChange }: TargetFieldsProps) {
  const { kind } = form;
  const { data: webhooks = [] } = useWebhookChoices(kind === 'webhook');
  const text = (name: keyof ChannelForm & ('host' | 'port' | 'user' | 'from' | 'recipients' | 'server' | 'topic')) => ({
    id: `channel-${name}`,
    value: form[name],
    onChange: (value: string) => onChange({ [name]: value }),
  });
  if (kind === 'webhook')
    return (
      <Field label={t`Webhook`} id="channel-webhook" required hint={t`One of the page Integrations`}>
        <SelectInput
          id="channel-webhook"
          value={form.webhook}
          required
          aria-describedby={helpId('channel-webhook')}
          onChange={(webhook) => onChange({ webhook })}
        >
          <option value="">{t`Choose a webhook`}</option>
          {webhooks.map(({ id, name }) => (
            <option key={id} value={id} translate="no">
              {name}
            </option>
          ))}
        </SelectInput>
      </Field>
    );
  const secret = (
    <Field
      label={kind === 'mail' ? t`Password` : t`Access token`}
      id="channel-secret"
      hint={hasSecret ? t`Empty keeps the stored one, which is not sent to another server.` : t`Only if it is needed`}
    >
      <TextInput
        id="channel-secret"
        type="password"
        autoComplete="new-password"
        value={form.secret}
        aria-describedby={helpId('channel-secret')}
        onChange={(value) => onChange({ secret: value })}
      />
    </Field>
  );
  if (kind === 'ntfy')
    return (
      <>
        <TextField {...text('server')} label={t`Server`} required placeholder="https://ntfy.example.org" />
        <TextField {...text('topic')} label={t`Topic`} required />
        {secret}
      </>
    );
  return (
    <>
      <TextField {...text('host')} label={t`Mail server`} required placeholder="mail.example.org" />
      <TextField {...text('port')} label={t`Port`} required />
      <Field label={t`Encryption`} id="channel-security">
        <SelectInput
          id="channel-security"
          value={form.security}
          onChange={(security) => onChange({ security: security as ChannelForm['security'] })}
        >
          <option value="starttls" translate="no">
            {SECURITY_NAMES.starttls}
          </option>
          <option value="tls" translate="no">
            {SECURITY_NAMES.tls}
          </option>
          <option value="none">{t`None, on this machine only`}</option>
        </SelectInput>
      </Field>
      <TextField {...text('user')} label={t`User`} hint={t`Empty without a login`} />
      {secret}
      <TextField {...text('from')} label={t`Sender`} required placeholder="headgate@example.org" />
      <TextField
        {...text('recipients')}
        label={t`Recipients`}
        required
        hint={t`Addresses with a comma or a space between them`}
      />
    </>
  );
}
