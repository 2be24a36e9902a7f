import {
  type Admission,
  type RequestOutcome,
  RULE_EVENTS,
  RuleEngine,
  type RuleFacts,
  type RuleRefusal,
  type RuleSet,
} from '@headgate/limit-rules';
import { Clock, MemoryRateLimiter } from '@headgate/limits-core';

/** The refusals of one rule. */
export interface RuleReport {
  refused: number;
  /** Of a shadow rule: requests that it would have refused. */
  wouldBeRefused: number;
  /** Refusals by key. */
  readonly keys: Map<string, number>;
}

export interface ReplayReport {
  /** Requests that rules could count. */
  requests: number;
  refused: number;
  /** Requests that were refused when they were recorded. */
  refusedThen: number;
  /** Of these, how many pass now. */
  grantedNow: number;
  /** Requests that were granted when they were recorded, and are refused now. */
  refusedNow: number;
  firstMs: number;
  lastMs: number;
  readonly rules: Map<string, RuleReport>;
  /** Lines that are not of a request log. */
  invalidLines: number;
  /** The number of the first of them. */
  firstInvalidLine: number | undefined;
}

const OUTCOMES: readonly string[] = [
  'success',
  'forbidden',
  'unauthenticated',
  'rejected',
  'other',
  'lost',
] satisfies RequestOutcome[];
const EVENTS: ReadonlySet<string> = new Set(RULE_EVENTS);
/** A gateway that was killed leaves requests without an outcome. */
const MAX_PENDING = 100_000;

/** The time of the line that is being replayed, since the first one. */
class RecordedTime extends Clock {
  nowMs = 0;

  override now(): number {
    return this.nowMs;
  }
}

/**
 * Decides on recorded requests as the gateway would with other rules: the same engine and windows, with the recorded
 * times.
 */
export class Replay {
  readonly report: ReplayReport = {
    requests: 0,
    refused: 0,
    refusedThen: 0,
    grantedNow: 0,
    refusedNow: 0,
    firstMs: 0,
    lastMs: 0,
    rules: new Map(),
    invalidLines: 0,
    firstInvalidLine: undefined,
  };
  private readonly time = new RecordedTime();
  private readonly engine: RuleEngine;
  private readonly pending = new Map<number, Admission>();
  private lines = 0;

  constructor(rules: RuleSet) {
    for (const { name } of rules.rules) this.report.rules.set(name, { refused: 0, wouldBeRefused: 0, keys: new Map() });
    const listener = {
      onGranted: () => undefined,
      onRefused: (refusal: RuleRefusal, _facts: RuleFacts, isShadow: boolean) => this.count(refusal, isShadow),
    };
    this.engine = new RuleEngine(new MemoryRateLimiter({ clock: this.time }), listener, rules);
  }

  /** Replays one line of a request log. @returns the rule that refuses the request of this line, if any */
  play(line: string): string | undefined {
    this.lines++;
    const entry = parse(line);
    if (!entry) {
      this.report.invalidLines++;
      this.report.firstInvalidLine ??= this.lines;
      return undefined;
    }
    this.advanceTo(entry.t);
    if (entry.parts) return this.request(entry as RequestEntry);
    if (entry.outcome !== undefined) this.settle(entry.id!, entry.outcome);
    // The gateway has started again: its requests in progress ended without an outcome.
    else for (const id of [...this.pending.keys()]) this.settle(id, 'other');
    return undefined;
  }

  /** A wall clock that is set back must not reopen windows. */
  private advanceTo(timeMs: number): void {
    const { report } = this;
    if (report.firstMs === 0) report.firstMs = timeMs;
    report.lastMs = Math.max(report.lastMs, timeMs);
    this.time.nowMs = report.lastMs - report.firstMs;
  }

  private request({ id, address, source = address, parts, refused }: RequestEntry): string | undefined {
    const { report } = this;
    for (const part of parts) Object.assign(part, { address, source });
    const answer = this.engine.admit(parts) as Admission | RuleRefusal;
    // The request of such a response has its own line.
    if (parts[0]?.isResponse !== true) report.requests++;
    if (refused !== undefined) report.refusedThen++;
    if (answer.granted) {
      if (refused === undefined) this.hold(id, answer);
      else {
        report.grantedNow++;
        // The homeserver has never seen it, so its outcome is unknown.
        answer.settle('other');
      }
      return undefined;
    }
    report.refused++;
    if (refused === undefined) report.refusedNow++;
    return answer.rule;
  }

  private hold(id: number, admission: Admission): void {
    this.settle(id, 'other');
    this.pending.set(id, admission);
    if (this.pending.size <= MAX_PENDING) return;
    const [oldest] = this.pending.keys();
    this.settle(oldest!, 'other');
  }

  private settle(id: number, outcome: RequestOutcome): void {
    const admission = this.pending.get(id);
    if (!admission) return;
    this.pending.delete(id);
    admission.settle(outcome);
  }

  private count({ rule, key }: RuleRefusal, isShadow: boolean): void {
    const report = this.report.rules.get(rule)!;
    if (isShadow) report.wouldBeRefused++;
    else report.refused++;
    report.keys.set(key, (report.keys.get(key) ?? 0) + 1);
  }
}

type Writable<Type> = { -readonly [Key in keyof Type]: Type[Key] };

interface LogEntry {
  t: number;
  id?: number;
  address?: string;
  source?: string;
  parts?: Writable<RuleFacts>[];
  refused?: string;
  outcome?: RequestOutcome;
  started?: true;
}

type RequestEntry = LogEntry & Required<Pick<LogEntry, 'id' | 'address' | 'parts'>>;

/** The entry of a line; undefined when it is not one. */
function parse(line: string): LogEntry | undefined {
  let entry: LogEntry;
  try {
    entry = JSON.parse(line) as LogEntry;
  } catch {
    return undefined;
  }
  if (typeof entry !== 'object' || entry === null || typeof entry.t !== 'number') return undefined;
  if (entry.started === true) return entry;
  if (typeof entry.id !== 'number') return undefined;
  if (entry.outcome !== undefined) return OUTCOMES.includes(entry.outcome) ? entry : undefined;
  const isRequest =
    typeof entry.address === 'string' &&
    Array.isArray(entry.parts) &&
    entry.parts.every((part) => typeof part === 'object' && part !== null && EVENTS.has(part.event));
  return isRequest ? entry : undefined;
}
