import { t } from '@lingui/core/macro';
import type { CreateMessageChannelDto, MessageChannelView } from '@headgate/api-contracts';

type Kind = MessageChannelView['kind'];
type Security = NonNullable<NonNullable<MessageChannelView['target']>['security']>;

/** The texts of the form of a channel. Secrets are empty unless the user types them: the service returns none. */
export interface ChannelForm {
  readonly kind: Kind;
  readonly name: string;
  readonly shared: boolean;
  readonly host: string;
  readonly port: string;
  readonly security: Security;
  readonly user: string;
  readonly from: string;
  readonly recipients: string;
  readonly server: string;
  readonly topic: string;
  readonly webhook: string;
  /** The password of the mail server, or the token of ntfy. */
  readonly secret: string;
}

export const EMPTY_CHANNEL: ChannelForm = {
  kind: 'mail',
  name: '',
  shared: false,
  host: '',
  port: '587',
  security: 'starttls',
  user: '',
  from: '',
  recipients: '',
  server: '',
  topic: '',
  webhook: '',
  secret: '',
};

export function formOf({ kind, name, shared, target }: MessageChannelView): ChannelForm {
  if (!target) return { ...EMPTY_CHANNEL, kind, name, shared };
  return {
    kind,
    name,
    shared,
    host: target.host ?? '',
    port: String(target.port ?? EMPTY_CHANNEL.port),
    security: target.security ?? 'starttls',
    user: target.user ?? '',
    from: target.from ?? '',
    recipients: target.recipients.join(', '),
    server: target.server ?? '',
    topic: target.topic ?? '',
    webhook: target.webhook ?? '',
    secret: '',
  };
}

const addressesIn = (text: string): string[] => [...new Set(text.split(/[\s,;]+/).filter((one) => one !== ''))];

/** @param stored the channel that is changed: an empty secret keeps its own */
export function requestOf(form: ChannelForm, stored?: MessageChannelView): CreateMessageChannelDto {
  const { kind, name, shared, host, port, security, user, from, recipients, server, topic, webhook, secret } = form;
  const common = { name: name.trim(), shared };
  if (kind === 'webhook') return { ...common, webhook: { webhook } };
  if (kind === 'ntfy')
    return { ...common, ntfy: { server: server.trim(), topic: topic.trim(), ...(secret !== '' && { token: secret }) } };
  const login = user.trim();
  // A login that is not there any more has no password.
  const isCleared = login === '' && stored !== undefined;
  return {
    ...common,
    mail: {
      host: host.trim(),
      port: Number(port),
      security,
      ...((login !== '' || isCleared) && { user: login }),
      ...(isCleared ? { password: '' } : secret !== '' && { password: secret }),
      from: from.trim(),
      recipients: addressesIn(recipients),
    },
  };
}

const MAX_PORT = 65_535;

/** Why the form can't be sent; undefined if it can. */
export function problemOf(form: ChannelForm): string | undefined {
  if (form.name.trim() === '') return t`Enter a name first.`;
  if (form.kind === 'webhook') return form.webhook === '' ? t`Choose a webhook first.` : undefined;
  if (form.kind === 'ntfy')
    return form.server.trim() === '' || form.topic.trim() === '' ? t`Enter a server and a topic first.` : undefined;
  if (form.host.trim() === '') return t`Enter a mail server first.`;
  const isPort = /^\d+$/.test(form.port) && Number(form.port) >= 1 && Number(form.port) <= MAX_PORT;
  if (!isPort) return t`The port is a number from 1 to ${MAX_PORT}.`;
  if (form.from.trim() === '') return t`Enter the address of the sender first.`;
  return addressesIn(form.recipients).length === 0 ? t`Enter a recipient first.` : undefined;
}

/** Where a channel sends to, as far as the user may see it. */
export function targetText({ kind, target }: MessageChannelView): string {
  if (!target) return '–';
  if (kind === 'mail') return `${target.recipients.join(', ')} (${target.host}:${target.port})`;
  return kind === 'ntfy' ? `${target.server}/${target.topic}` : (target.webhook ?? '');
}
