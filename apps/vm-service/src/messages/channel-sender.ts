import {
  DomainError,
  messageOf,
  type Clock,
  type MessageChannel,
  type MessageTarget,
  type NtfyTarget,
  type WebhookStore,
  type WebhookTarget,
} from '@headgate/domain-contracts';
import { MessageSender, type OutgoingMessage, type SendOutcome } from '@headgate/messages';
import { secretsOf, signedHeaders, type WebhookSender } from '@headgate/webhooks';
import type { MailSender } from './mail-sender.js';
import { withoutSecrets } from './without-secrets.js';

const SECOND_MS = 1000;
/** ntfy makes a longer message an attachment. */
const MAX_NTFY_BYTES = 4000;
/** Of 5, where 3 is the default of ntfy. */
const NTFY_PRIORITIES = { info: 2, warning: 3, error: 4 } as const;
const NTFY_TAGS = { info: 'information_source', warning: 'warning', error: 'rotating_light' } as const;
/** The receiver is busy, or something between has failed. */
const TEMPORARY: readonly number[] = [408, 425, 429];
/** Administrators can correct these meanwhile. */
const FORBIDDEN: readonly number[] = [401, 403, 404];
const FIRST_REFUSAL = 400;
const FIRST_FAILURE = 500;

export interface ChannelSenderDeps {
  readonly mail: MailSender;
  readonly webhookStore: WebhookStore;
  readonly http: WebhookSender;
  readonly clock: Clock;
}

/** Sends messages by mail, to ntfy and to webhooks, with the egress policy of webhooks for all of them. */
export class ChannelSender extends MessageSender {
  constructor(private readonly deps: ChannelSenderDeps) {
    super();
  }

  override check(target: MessageTarget): void {
    const { mail, http, webhookStore } = this.deps;
    if (target.kind === 'mail') mail.check(target);
    else if (target.kind === 'ntfy') checkServer(target, http);
    else if (!webhookStore.get(target.webhook))
      throw new DomainError('INVALID_INPUT', `webhook.webhook: there is no webhook ${target.webhook.slice(0, 40)}.`);
  }

  override send({ target }: MessageChannel, message: OutgoingMessage): Promise<SendOutcome> {
    if (target.kind === 'mail') return this.deps.mail.send(target, message);
    return target.kind === 'ntfy' ? this.publish(target, message) : this.post(target, message);
  }

  /** Source: https://docs.ntfy.sh/publish/#publish-as-json. A repetition has the same sequence ID. */
  private publish({ server, topic, token }: NtfyTarget, message: OutgoingMessage): Promise<SendOutcome> {
    const { id, severity, subject, text, signal } = message;
    const body = JSON.stringify({
      topic,
      title: subject,
      message: cut(text),
      priority: NTFY_PRIORITIES[severity],
      tags: [NTFY_TAGS[severity]],
      sequence_id: id,
    });
    const headers: Record<string, string> = token === '' ? {} : { authorization: `Bearer ${token}` };
    const name = new URL(server).host;
    return this.request(name, [token], { url: new URL('/', server).href, headers, body, signal });
  }

  private async post({ webhook: id }: WebhookTarget, message: OutgoingMessage): Promise<SendOutcome> {
    const webhook = this.deps.webhookStore.get(id);
    if (!webhook) return { result: 'refused', reason: 'The webhook of the channel was deleted.' };
    const { id: messageId, severity, subject, text, createdAt, signal } = message;
    const data = { id: messageId, severity, subject, text };
    const body = JSON.stringify({ type: 'message', timestamp: createdAt, data });
    // A repetition has the same ID; its time is that of the attempt, which receivers check.
    const now = this.deps.clock.now();
    const timestampSeconds = Math.floor(now / SECOND_MS);
    const secrets = secretsOf(webhook, now);
    const headers = signedHeaders({ id: `msg_${messageId}`, timestampSeconds, body }, ...secrets);
    return this.request(new URL(webhook.url).host, secrets, { url: webhook.url, headers, body, signal });
  }

  private async request(
    name: string,
    secrets: readonly string[],
    request: Parameters<WebhookSender['send']>[0],
  ): Promise<SendOutcome> {
    try {
      const status = await this.deps.http.send(request);
      if (status >= 200 && status < 300) return { result: 'sent', reason: '' };
      const isRefused = status >= FIRST_REFUSAL && status < FIRST_FAILURE;
      const isFinal = isRefused && !TEMPORARY.includes(status) && !FORBIDDEN.includes(status);
      return { result: isFinal ? 'refused' : 'failed', reason: `${name} answered with status ${status}.` };
    } catch (error) {
      return { result: 'failed', reason: withoutSecrets(`${name}: ${messageOf(error)}`, secrets) };
    }
  }
}

/** @throws DomainError INVALID_INPUT */
function checkServer({ server, token }: NtfyTarget, http: WebhookSender): void {
  const { protocol, hostname, pathname, search, username } = new URL(server);
  const fault =
    pathname !== '/' || search !== '' || username !== ''
      ? 'must be the address of the server only, such as https://ntfy.example.org; the topic has a field of its own.'
      : token !== '' && protocol !== 'https:' && !/^(?:localhost|127\.[\d.]+|\[::1\])$/.test(hostname)
        ? 'must begin with https:// when there is a token.'
        : undefined;
  if (fault !== undefined) throw new DomainError('INVALID_INPUT', `ntfy.server: ${fault}`);
  try {
    http.check(server);
  } catch (error) {
    throw new DomainError('INVALID_INPUT', `ntfy.server: ${messageOf(error).replace(/^url: /, '')}`, { cause: error });
  }
}

/** Without the beginning of a character at the end. */
function cut(text: string): string {
  if (Buffer.byteLength(text) <= MAX_NTFY_BYTES) return text;
  const start = Buffer.from(text).subarray(0, MAX_NTFY_BYTES).toString('utf8');
  return `${start.replace(/\ufffd+$/u, '')}…`;
}
