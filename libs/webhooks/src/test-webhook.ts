import { randomUUID } from 'node:crypto';
import { DomainError, messageOf, type Caller } from '@headgate/domain-contracts';
import { secretsOf, signedHeaders } from './signature.js';
import { findWebhook } from './visible-webhooks.js';
import type { WebhookDeps } from './webhook-changes.js';

const SECOND_MS = 1000;
/** A user must not send requests to other services as fast as they can. */
const TEST_INTERVAL_MS = 5 * SECOND_MS;

/** The receiver's answer to a test. */
export interface TestOutcome {
  readonly isAccepted: boolean;
  /** Why not; empty if it was accepted. */
  readonly reason: string;
}

/** Sends one signed message of the type `webhook.test`, without any data of instances. Changes no delivery. */
export class TestWebhook {
  private readonly testedAt = new Map<string, number>();

  constructor(private readonly deps: WebhookDeps) {}

  /** @throws DomainError WEBHOOK_NOT_FOUND; CONFLICT within 5 s of the last test of the caller */
  async run(caller: Caller, id: string, signal: AbortSignal): Promise<TestOutcome> {
    const { store, audit } = this.deps;
    const webhook = findWebhook(store, id, caller);
    this.expectPause(caller.login);
    return audit.of(
      caller,
      'test webhook',
      `webhook/${webhook.name}`,
      () => this.send(id, caller, signal),
      ({ isAccepted, reason }) => (isAccepted ? 'accepted' : reason),
    );
  }

  private async send(id: string, caller: Caller, signal: AbortSignal): Promise<TestOutcome> {
    const { store, sender, clock } = this.deps;
    const webhook = findWebhook(store, id, caller);
    const message = {
      id: `msg_${id}_test_${randomUUID()}`,
      timestampSeconds: Math.floor(clock.now() / SECOND_MS),
      body: JSON.stringify({ type: 'webhook.test', timestamp: clock.iso(), data: { webhook: webhook.name } }),
    };
    const headers = signedHeaders(message, ...secretsOf(webhook, clock.now()));
    try {
      const status = await sender.send({ url: webhook.url, headers, body: message.body, signal });
      if (status >= 200 && status < 300) return { isAccepted: true, reason: '' };
      return { isAccepted: false, reason: `The receiver answered with status ${status}.` };
    } catch (error) {
      return { isAccepted: false, reason: messageOf(error) || 'The receiver did not answer.' };
    }
  }

  private expectPause(login: string): void {
    const now = this.deps.clock.now();
    for (const [tester, time] of this.testedAt) if (now - time >= TEST_INTERVAL_MS) this.testedAt.delete(tester);
    if (this.testedAt.has(login))
      throw new DomainError('CONFLICT', 'A webhook was tested a moment ago; try again in 5 seconds.');
    this.testedAt.set(login, now);
  }
}
