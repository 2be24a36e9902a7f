import type { RequestOutcome, RequestRecorder, RuleFacts } from '@headgate/limit-rules';

/** A request that rules counted or refused. */
export interface RecentRequest {
  readonly id: number;
  /** Milliseconds since 1970. */
  readonly timeMs: number;
  readonly facts: readonly RuleFacts[];
  /** The rule that refused it. */
  readonly refusedBy: string | undefined;
  /** Undefined while the homeserver has not answered, and for refused requests. */
  outcome: RequestOutcome | undefined;
}

const CAPACITY = 5_000;

/**
 * The latest requests that rules counted, in memory, so that an operator can see the requests behind a full window. Its
 * memory is bounded by the number of requests: facts have names of at most 255 characters and a path that is cut.
 */
export class RecentRequests implements RequestRecorder {
  private readonly ring: RecentRequest[] = [];
  private last = 0;

  /** @param capacity how many requests are kept */
  constructor(
    private readonly capacity = CAPACITY,
    private readonly now: () => number = Date.now,
  ) {}

  onDecided(facts: readonly RuleFacts[], refusedBy: string | undefined): number {
    const id = ++this.last;
    this.ring[id % this.capacity] = { id, timeMs: this.now(), facts, refusedBy, outcome: undefined };
    return id;
  }

  onSettled(id: number, outcome: RequestOutcome): void {
    const request = this.ring[id % this.capacity];
    // A newer request may have taken its place.
    if (request?.id === id) request.outcome = outcome;
  }

  /** The newest first. */
  *latest(): Generator<RecentRequest> {
    for (let id = this.last; id > Math.max(0, this.last - this.capacity); id--) yield this.ring[id % this.capacity]!;
  }
}
