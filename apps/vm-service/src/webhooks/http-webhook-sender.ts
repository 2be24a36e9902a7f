import { request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { DomainError, messageOf, type Clock } from '@headgate/domain-contracts';
import { EgressPolicy } from '@headgate/downloads';
import { WebhookSender, type WebhookMessage } from '@headgate/webhooks';

/** How long a receiver may take for its answer. */
const TIMEOUT_MS = 15_000;

/**
 * Sends messages over HTTP. The egress policy applies to the address of every connection. Redirects are not followed,
 * and the body of the response is not read.
 */
export class HttpWebhookSender extends WebhookSender {
  constructor(
    private readonly egress: EgressPolicy,
    private readonly clock: Clock,
  ) {
    super();
  }

  override check(url: string): void {
    try {
      this.egress.checkLiteral(new URL(url));
    } catch (error) {
      throw new DomainError('INVALID_INPUT', `url: ${messageOf(error)}`, { cause: error });
    }
  }

  override async send({ url: text, headers, body, signal }: WebhookMessage): Promise<number> {
    const url = new URL(text);
    this.egress.checkLiteral(url);
    const timeout = new AbortController();
    const cancel = this.clock.after(TIMEOUT_MS, () => timeout.abort(new Error('The receiver did not answer in time.')));
    try {
      return await post(url, {
        // A connection of its own for each message: a pooled one could have been opened under another policy.
        agent: false,
        lookup: this.egress.lookupFor(url),
        signal: AbortSignal.any([signal, timeout.signal]),
        method: 'POST',
        headers: {
          ...headers,
          'content-type': 'application/json; charset=utf-8',
          'content-length': Buffer.byteLength(body),
          'user-agent': 'headgate',
        },
        body,
      });
    } catch (error) {
      throw timeout.signal.aborted ? timeout.signal.reason : error;
    } finally {
      cancel();
    }
  }
}

type PostOptions = Parameters<typeof requestHttps>[1] & { readonly body: string };

const post = (url: URL, { body, ...options }: PostOptions): Promise<number> =>
  new Promise((resolve, reject) => {
    const open = url.protocol === 'https:' ? requestHttps : requestHttp;
    const request = open(url, options, (response) => {
      resolve(response.statusCode ?? 0);
      response.destroy();
    });
    // Also after the response: destroying it resets the connection.
    request.on('error', reject);
    request.end(body);
  });
