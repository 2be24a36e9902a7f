import type { DecisionListener } from '@headgate/limits-nest';

const MINUTE_MS = 60_000;
/** The length of the history. */
export const HISTORY_MINUTES = 60;
/** More than a limiter holds; a name beyond them is not counted. */
const MAX_RULES = 1_024;
const OUTCOMES = ['granted', 'refused', 'shadow_refused'] as const;
type Outcome = Parameters<DecisionListener>[1];

interface RuleHistory {
  /** The minute since 1970 that each slot counts. */
  readonly minutes: Float64Array;
  /** `HISTORY_MINUTES` slots for each outcome. */
  readonly counts: Uint32Array;
}

/** The decisions of one rule per minute, the oldest first; the last minute is the present one. */
export type RuleDecisions = Record<Outcome, number[]>;

/** Decisions per rule and minute over the last hour, in memory. */
export class DecisionHistory {
  private readonly rules = new Map<string, RuleHistory>();

  constructor(private readonly now: () => number = Date.now) {}

  readonly record: DecisionListener = (rule, outcome) => {
    const minute = Math.floor(this.now() / MINUTE_MS);
    const slot = minute % HISTORY_MINUTES;
    const history = this.rules.get(rule) ?? this.add(rule);
    if (!history) return;
    const { minutes, counts } = history;
    if (minutes[slot] !== minute) {
      minutes[slot] = minute;
      for (let index = slot; index < counts.length; index += HISTORY_MINUTES) counts[index] = 0;
    }
    counts[OUTCOMES.indexOf(outcome) * HISTORY_MINUTES + slot]!++;
  };

  /** The decisions of each rule that has decided since the start. */
  report(): Map<string, RuleDecisions> {
    const present = Math.floor(this.now() / MINUTE_MS);
    return new Map([...this.rules].map(([rule, history]) => [rule, decisionsOf(history, present)]));
  }

  private add(rule: string): RuleHistory | undefined {
    if (this.rules.size >= MAX_RULES) return undefined;
    const history = {
      minutes: new Float64Array(HISTORY_MINUTES),
      counts: new Uint32Array(HISTORY_MINUTES * OUTCOMES.length),
    };
    this.rules.set(rule, history);
    return history;
  }
}

function decisionsOf({ minutes, counts }: RuleHistory, present: number): RuleDecisions {
  const series = OUTCOMES.map((outcome, row) => {
    const values = Array.from({ length: HISTORY_MINUTES }, (_, index) => {
      const minute = present - HISTORY_MINUTES + 1 + index;
      const slot = minute % HISTORY_MINUTES;
      return minutes[slot] === minute ? counts[row * HISTORY_MINUTES + slot]! : 0;
    });
    return [outcome, values] as const;
  });
  return Object.fromEntries(series) as RuleDecisions;
}
