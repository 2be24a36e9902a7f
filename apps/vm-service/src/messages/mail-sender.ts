import { DomainError, messageOf, type Clock, type MailTarget } from '@headgate/domain-contracts';
import type { EgressPolicy } from '@headgate/downloads';
import type { OutgoingMessage, SendOutcome } from '@headgate/messages';
import { connectMail, isLoopbackHost, urlOf } from './mail-socket.js';
import { withoutSecrets } from './without-secrets.js';

/** How long the whole delivery of a mail may take. */
const TIMEOUT_MS = 60_000;
/** A server needs a few lines. */
const MAX_RESPONSE_BYTES = 64 * 1024;
const PRIORITIES = { info: 'normal', warning: 'normal', error: 'high' } as const;
/** Codes of nodemailer for an answer about the sender, the recipients or the message. */
const PERMANENT: readonly (string | undefined)[] = ['EENVELOPE', 'EMESSAGE'];
const FIRST_PERMANENT = 500;

interface MailError extends Error {
  readonly code?: string;
  readonly responseCode?: number;
  readonly response?: string;
}

export interface MailSenderOptions {
  readonly egress: EgressPolicy;
  readonly clock: Clock;
  /** Certificates to trust besides the usual ones, for tests. */
  readonly certificates?: readonly string[];
  readonly timeoutMs?: number;
}

/** Sends mail over SMTP, one connection for each mail: plain text, with the same Message-ID at each attempt. */
export class MailSender {
  constructor(private readonly options: MailSenderOptions) {}

  /** @throws DomainError INVALID_INPUT */
  check(target: MailTarget): void {
    if (target.security === 'none' && !isLoopbackHost(target.host))
      throw new DomainError('INVALID_INPUT', 'mail.security: none is possible with 127.0.0.1, ::1 and localhost only.');
    try {
      this.options.egress.checkLiteral(urlOf(target));
    } catch (error) {
      throw new DomainError('INVALID_INPUT', `mail.host: ${messageOf(error)}`, { cause: error });
    }
  }

  async send(target: MailTarget, message: OutgoingMessage): Promise<SendOutcome> {
    const { clock, timeoutMs = TIMEOUT_MS } = this.options;
    const timeout = new AbortController();
    const cancel = clock.after(timeoutMs, () => timeout.abort(new Error('The mail server did not answer in time.')));
    try {
      return await this.deliver(target, message, AbortSignal.any([message.signal, timeout.signal]));
    } catch (error) {
      const { code, responseCode = 0, response } = error as MailError;
      const isRefused = PERMANENT.includes(code) && responseCode >= FIRST_PERMANENT;
      const reason = timeout.signal.aborted
        ? messageOf(timeout.signal.reason)
        : response === undefined
          ? `${target.host}: ${messageOf(error)}`
          : `${target.host} answered: ${response}`;
      return { result: isRefused ? 'refused' : 'failed', reason: withoutSecrets(reason, secretsOf(target)) };
    } finally {
      cancel();
    }
  }

  private async deliver(target: MailTarget, message: OutgoingMessage, signal: AbortSignal): Promise<SendOutcome> {
    const { host, port, security, user, password, from, recipients } = target;
    const { egress, certificates } = this.options;
    // Loaded with the first mail: it takes 160 ms and 20 MiB.
    const { createTransport } = await import('nodemailer');
    const connection = await connectMail(target, egress, signal);
    const transport = createTransport({
      host,
      port,
      connection,
      secure: security === 'tls',
      // Without it, a server between could leave STARTTLS out and read everything.
      requireTLS: security === 'starttls',
      ignoreTLS: security === 'none',
      tls: { minVersion: 'TLSv1.2', ...(certificates && { ca: [...certificates] }) },
      maxResponseSize: MAX_RESPONSE_BYTES,
      ...(user !== '' && { auth: { user, pass: password } }),
      // Neither reads a file nor requests a URL, whatever a field says.
      disableFileAccess: true,
      disableUrlAccess: true,
    });
    const aborted = rejectionOf(signal);
    try {
      const sending = transport.sendMail({
        from,
        to: [...recipients],
        subject: message.subject,
        text: message.text,
        date: new Date(message.createdAt),
        messageId: `<${message.id}@headgate>`,
        priority: PRIORITIES[message.severity],
        headers: { 'Auto-Submitted': 'auto-generated' },
      });
      sending.catch(() => undefined);
      const { rejected } = await Promise.race([sending, aborted.promise]);
      const refused = rejected.map(String);
      const reason = refused.length === 0 ? '' : `${host} has refused these recipients: ${refused.join(', ')}`;
      return { result: 'sent', reason: withoutSecrets(reason, secretsOf(target)) };
    } finally {
      aborted.forget();
      transport.close();
      connection.destroy();
    }
  }
}

/** Rejects when a signal aborts: a connection that is destroyed early does not always end the delivery. */
function rejectionOf(signal: AbortSignal): { readonly promise: Promise<never>; readonly forget: () => void } {
  let abort = (): void => undefined;
  const promise = new Promise<never>((_resolve, reject) => {
    abort = () => reject(signal.reason as Error);
    if (signal.aborted) abort();
    else signal.addEventListener('abort', abort, { once: true });
  });
  promise.catch(() => undefined);
  return { promise, forget: () => signal.removeEventListener('abort', abort) };
}

/** Also the forms in which the login sends them. */
const secretsOf = ({ user, password }: MailTarget): string[] => [password, `\u0000${user}\u0000${password}`];
