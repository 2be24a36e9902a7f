import {
  type Admission,
  isSharedKey,
  type LimitOverrides,
  type Maybe,
  rateNamesOf,
  type RequestOutcome,
  type RequestRecorder,
  type Rule,
  RuleEngine,
  type RuleEvent,
  type RuleFacts,
  type RuleKey,
  type RuleListener,
  type RuleRefusal,
  type RuleSet,
  then,
} from '@headgate/limit-rules';
import { MAX_RATES, RateExceeded, type RateLimiter } from '@headgate/limits-core';
import { type Caller, type MatrixRequest, type MatrixResponse, succeeded } from '@headgate/homeserver-contracts';
import type { LiveConfig } from '../config/live-config.js';

/** A rule refuses the request: 429. */
export class RuleExceeded extends RateExceeded {
  constructor(readonly refusal: RuleRefusal) {
    super({ rate: refusal.rule, retryAfterMs: refusal.retryAfterMs });
  }
}

/** What a bound knows about a part of a request. The address is that of the request. */
export type RulePart = Omit<RuleFacts, 'address' | 'source'>;

/** What the rules read of a request. */
type RuledRequest = Pick<MatrixRequest, 'address' | 'source'> & Partial<Pick<MatrixRequest, 'target'>>;

const MAX_PATH_CHARACTERS = 300;

/** The request counts for nothing, so there is nothing to settle. */
export const ADMITTED: Admission = { granted: true, isSettled: true, settle: () => undefined };

export interface RulesOptions {
  /** Receives the facts of all requests. */
  readonly recorder?: RequestRecorder | undefined;
  /** Receives the facts of the requests that rules count, and no others. */
  readonly observer?: RequestRecorder | undefined;
  readonly overrides?: LimitOverrides;
}

/** The rates of the contract and the rules of the configuration. Switched off, they admit everything. */
export class Rules {
  private readonly engine: RuleEngine;
  private readonly recorder: RequestRecorder | undefined;
  private readonly observer: RequestRecorder | undefined;
  /** Every name since the start: a limiter keeps its rates. */
  private rateNames: ReadonlySet<string> = new Set();

  constructor(
    readonly windows: RateLimiter,
    private readonly config: LiveConfig,
    listener: RuleListener,
    { recorder, observer, overrides }: RulesOptions = {},
  ) {
    this.recorder = recorder;
    this.observer = observer;
    this.engine = new RuleEngine(windows, listener, config.current.rules, overrides);
    this.rateNames = this.namesWith(config.current.rules);
  }

  /** Applies reloaded settings. Open windows stay open. */
  reconfigure(): void {
    this.rateNames = this.namesWith(this.config.current.rules);
    this.engine.configure(this.config.current.rules);
  }

  /** The problems that would keep `reconfigure` from applying these rules. */
  problemsOf(rules: RuleSet): string[] {
    if (this.namesWith(rules).size <= MAX_RATES) return [];
    return ['rules have been renamed too often since the start: restart to apply them'];
  }

  /** Whether any rule counts this event, or the facts of all events are recorded. */
  count(event: RuleEvent): boolean {
    if (this.isRecording) return true;
    return this.countsAny(event) && this.isEnabled;
  }

  /**
   * Whether a rule on this event, or an exemption from one, depends on the user. Under a key that callers share, only
   * an identified one may take a place, even while the request is in progress.
   */
  needUser(event: RuleEvent): boolean {
    const own = this.rulesOn(event);
    if (own.length === 0) return false;
    const { exempt } = this.config.current.rules;
    return (
      own.some(({ by }) => by === 'user') ||
      this.share(event) ||
      [exempt, ...own.map((rule) => rule.exempt)].some(namesUsers)
    );
  }

  /** Whether a rule on this event counts bytes, or they are recorded. */
  countBytes(event: RuleEvent): boolean {
    return this.isRecording || this.rulesOn(event).some(({ unit }) => unit === 'bytes');
  }

  /** The keys of the rules on this event that callers share. */
  sharedKeysOf(event: RuleEvent): RuleKey[] {
    return this.rulesOn(event).flatMap(({ by }) => (isSharedKey(by) ? [by] : []));
  }

  /** Whether a rule on this event counts under a key that callers share. */
  share(event: RuleEvent): boolean {
    return this.sharedKeysOf(event).length > 0;
  }

  /** Whether the facts of all requests are recorded, so that other rules can be tried on them. */
  get isRecording(): boolean {
    return this.recorder !== undefined;
  }

  /** Whether none of the rules applies to a caller. */
  isExempt(request: Pick<MatrixRequest, 'address'>, caller?: Caller): boolean {
    return this.engine.isExempt({ address: request.address, user: caller?.userId, appservice: caller?.appservice });
  }

  /** Throws or rejects with RuleExceeded. */
  admit({ address, source, target }: RuledRequest, parts: readonly RulePart[]): Maybe<Admission> {
    if (!this.isEnabled && !this.recorder) return ADMITTED;
    const path = this.observer && target !== undefined ? pathOf(target) : undefined;
    const facts = parts.map((part) => ({ ...part, address, source, path }));
    return then(this.decide(facts), (decision) => {
      if (!decision.granted) throw new RuleExceeded(decision);
      return decision;
    });
  }

  /** Decides on a request and records the decision. */
  decide(facts: readonly RuleFacts[]): Maybe<Admission | RuleRefusal> {
    return then(this.isEnabled ? this.engine.admit(facts) : ADMITTED, (decision) => {
      const observed = this.observer ? recorded(this.observer, facts, decision) : decision;
      return this.recorder ? recorded(this.recorder, facts, observed) : observed;
    });
  }

  /**
   * Lets the homeserver handle a request that every rule admits, and settles it by the outcome.
   * @param outcomeIn reads the outcome from a response; by its status when left out
   */
  async run(
    request: RuledRequest,
    parts: readonly RulePart[],
    next: () => Promise<MatrixResponse>,
    outcomeIn: (response: MatrixResponse) => RequestOutcome = outcomeByStatus,
  ): Promise<MatrixResponse> {
    const admitted = this.admit(request, parts);
    const admission = admitted instanceof Promise ? await admitted : admitted;
    let outcome: RequestOutcome = 'other';
    try {
      const response = await next();
      outcome = outcomeIn(response);
      return response;
    } catch (error) {
      outcome = outcomeOf((error as { status?: unknown }).status);
      throw error;
    } finally {
      await admission.settle(outcome);
    }
  }

  /** Whether any rule of the configuration counts this event. */
  protected countsAny(event: RuleEvent): boolean {
    return this.engine.counts(event);
  }

  private rulesOn(event: RuleEvent): readonly Rule[] {
    return this.isEnabled ? this.config.current.rules.rules.filter(({ on }) => on.includes(event)) : [];
  }

  private namesWith({ rules }: RuleSet): ReadonlySet<string> {
    return new Set([...this.rateNames, ...rules.flatMap(rateNamesOf)]);
  }

  private get isEnabled(): boolean {
    return this.config.current.ratelimit.enabled;
  }
}

/** The decision, whose settlement is recorded too. */
function recorded(
  recorder: RequestRecorder,
  facts: readonly RuleFacts[],
  decision: Admission | RuleRefusal,
): Admission | RuleRefusal {
  const request = recorder.onDecided(facts, decision.granted ? undefined : decision.rule);
  if (!decision.granted) return decision;
  const settle = (outcome: RequestOutcome) => {
    recorder.onSettled(request, outcome);
    return decision.settle(outcome);
  };
  return { granted: true, settle };
}

/** Without the query, which may have an access token. */
const pathOf = (target: string): string => target.split('?', 1)[0]!.slice(0, MAX_PATH_CHARACTERS);

const outcomeByStatus = (response: MatrixResponse): RequestOutcome =>
  succeeded(response) ? 'success' : outcomeOf(response.status);

function outcomeOf(status: unknown): RequestOutcome {
  if (status === 401) return 'unauthenticated';
  if (status === 403) return 'forbidden';
  return typeof status === 'number' && status >= 400 && status < 500 ? 'rejected' : 'other';
}

const namesUsers = ({ users, appservices }: { users: readonly string[]; appservices: readonly string[] }): boolean =>
  users.length > 0 || appservices.length > 0;
