import { randomUUID } from 'node:crypto';
import {
  DomainError,
  messageOf,
  REPLY_LIFETIME_MS,
  type Clock,
  type Log,
  type Replicas,
  type ReplyClaim,
  type ReplyStore,
  type StoredReply,
} from '@headgate/domain-contracts';
import type { KeyedRequest } from './keyed-request.js';
import { openAnswer, sealAnswer, type AnswerContent } from './sealed-answer.js';

/** An answer that is sent again. */
export interface Replay extends AnswerContent {
  readonly status: number;
}

/** A request that this process carries out. */
interface Running {
  readonly request: string;
  /** Resolves when it has an answer, stored or not. */
  readonly ended: Promise<void>;
  end(): void;
  claim?: ReplyClaim;
}

export interface KeyedRequestsDeps {
  readonly store: ReplyStore;
  readonly replicas: Replicas;
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * Carries out each request with an idempotency key at most once in 24 hours, whatever becomes of this process. `begin`
 * claims the key before the request is carried out, and exactly one of `keep` and `release` follows.
 */
export class KeyedRequests {
  private readonly run = randomUUID();
  private readonly running = new Map<string, Running>();

  constructor(private readonly deps: KeyedRequestsDeps) {}

  /**
   * Claims a key, or waits for the answer that this process is about to give to the same request.
   * @returns the first answer; undefined when the request must be carried out now
   * @throws DomainError KEY_REUSED, KEY_IN_USE, ANSWER_UNKNOWN, TOO_MANY_KEYS; and the errors of the store, when
   *   nothing was claimed
   */
  async begin(keyed: KeyedRequest): Promise<Replay | undefined> {
    for (;;) {
      const other = this.running.get(keyed.scope);
      if (!other) return this.claim(keyed);
      if (other.request !== keyed.request) throw keyReused();
      await other.ended;
    }
  }

  /**
   * Stores the answer before the client receives it. Never throws: a replay of an answer that was not stored is
   * refused.
   * @param content absent for an answer that can't be kept
   */
  async keep(keyed: KeyedRequest, status: number, content: AnswerContent | undefined): Promise<void> {
    await this.settle(keyed, 'the answer of an idempotency key was not stored', async (claim) => {
      const sealed = content && (await sealAnswer(content, keyed));
      await this.deps.store.complete(claim, { status, ...(sealed === undefined ? {} : { sealed }) });
    });
  }

  /** Gives the key back after an answer that is not final. Never throws. */
  async release(keyed: KeyedRequest): Promise<void> {
    await this.settle(keyed, 'an idempotency key was not released', (claim) => this.deps.store.release(claim));
  }

  private async claim(keyed: KeyedRequest): Promise<Replay | undefined> {
    const { store, clock } = this.deps;
    const { promise: ended, resolve: end } = Promise.withResolvers<void>();
    const running: Running = { request: keyed.request, ended, end };
    // Before the first await, so that another request waits for this one.
    this.running.set(keyed.scope, running);
    let earlier: StoredReply | undefined;
    try {
      const { scope, caller, request } = keyed;
      const now = clock.now();
      const claim = {
        scope,
        caller,
        request,
        replica: this.deps.replicas.id,
        run: this.run,
        claimedAt: isoOf(now),
        expiresAt: isoOf(now + REPLY_LIFETIME_MS),
      };
      earlier = await store.claim(claim);
      if (!earlier) {
        running.claim = claim;
        return undefined;
      }
    } finally {
      if (!running.claim) this.end(keyed, running);
    }
    return this.replay(keyed, earlier);
  }

  private async replay(keyed: KeyedRequest, earlier: StoredReply): Promise<Replay> {
    const { request, reply, replica, run, claimedAt } = earlier;
    if (request !== keyed.request) throw keyReused();
    if (reply?.sealed !== undefined) return { status: reply.status, ...(await openAnswer(reply.sealed, keyed)) };
    const details = { claimedAt };
    if (reply)
      throw answerUnknown(
        `was answered with status ${reply.status} at ${claimedAt}, but the answer was too large to be kept.`,
        details,
      );
    const { replicas } = this.deps;
    if (replica !== replicas.id && !(await replicas.isGone(replica)))
      throw new DomainError(
        'KEY_IN_USE',
        'Another replica carries out the request with this Idempotency-Key. Send it again in a moment to get its answer.',
        { details },
      );
    const why = run === this.run ? 'its answer could not be stored' : 'the service ended before its answer was stored';
    throw answerUnknown(`began at ${claimedAt}, and ${why}, so its outcome is unknown.`, details);
  }

  private async settle(
    keyed: KeyedRequest,
    failure: string,
    write: (claim: ReplyClaim) => Promise<void>,
  ): Promise<void> {
    const running = this.running.get(keyed.scope);
    if (!running?.claim) return;
    try {
      await write(running.claim);
    } catch (error) {
      this.deps.log.warn({ reason: messageOf(error) }, failure);
    } finally {
      this.end(keyed, running);
    }
  }

  private end({ scope }: KeyedRequest, running: Running): void {
    this.running.delete(scope);
    running.end();
  }
}

const isoOf = (ms: number): string => new Date(ms).toISOString();

const keyReused = (): DomainError =>
  new DomainError(
    'KEY_REUSED',
    'Idempotency-Key: was used within 24 hours for a request with another query or body. Use a new key for each change.',
  );

const answerUnknown = (what: string, details: object): DomainError =>
  new DomainError(
    'ANSWER_UNKNOWN',
    `The first request with this Idempotency-Key ${what} It is not carried out again. GET /api/ext/journal, GET /api/tasks and the object itself show whether it was done; send the request with a new key if not.`,
    { details },
  );
