/** How many snapshots are kept: of each hour, day, … the last one. -1 keeps all; 0 and missing ones don't count. */
export interface KeepPolicy {
  readonly last?: number;
  readonly hourly?: number;
  readonly daily?: number;
  readonly weekly?: number;
  readonly monthly?: number;
  readonly yearly?: number;
}

export const KEEP_REASONS = ['last', 'hourly', 'daily', 'weekly', 'monthly', 'yearly'] as const;
export type KeepReason = (typeof KEEP_REASONS)[number] | 'empty policy' | 'future';

export interface KeptSnapshot<S> {
  readonly snapshot: S;
  /** Empty if the snapshot is not kept. */
  readonly reasons: readonly KeepReason[];
}

interface Rule {
  readonly reason: (typeof KEEP_REASONS)[number];
  left: number;
  last: string | undefined;
}

/**
 * Which snapshots a policy keeps, the newest first, decided as `restic forget` does: from the newest to the oldest, a
 * snapshot is kept if a rule with counts left sees its hour, day, ISO week, month or year for the first time; the
 * oldest one is also kept by each rule that has counts left. A policy without any rule keeps all.
 *
 * restic takes the hour and day from the offset in each snapshot's time; here they are those of `timeZone`.
 *
 * @param options.now milliseconds since the epoch. Snapshots that are more than a day ahead of it come from a clock
 *   that was wrong: they are kept with the reason `future` and use up no counts, so that they don't push out real
 *   ones. Without it, they count like all others, as in restic.
 */
export function keep<S extends { readonly time: string }>(
  snapshots: readonly S[],
  policy: KeepPolicy,
  timeZone: string,
  options: { readonly now?: number } = {},
): KeptSnapshot<S>[] {
  const sorted = [...snapshots].sort((a, b) => Date.parse(b.time) - Date.parse(a.time));
  const rules = rulesOf(policy);
  if (rules.length === 0) return sorted.map((snapshot) => ({ snapshot, reasons: ['empty policy'] }));
  const latest = options.now === undefined ? Infinity : options.now + FUTURE_MS;
  const calendar = new Calendar(timeZone);
  return sorted.map((snapshot, index) => {
    if (Date.parse(snapshot.time) > latest) return { snapshot, reasons: ['future'] };
    const periods = calendar.periodsOf(Date.parse(snapshot.time), index);
    const isOldest = index === sorted.length - 1;
    return {
      snapshot,
      reasons: rules.filter((rule) => apply(rule, periods[rule.reason], isOldest)).map((r) => r.reason),
    };
  });
}

const FUTURE_MS = 24 * 60 * 60_000;

function rulesOf(policy: KeepPolicy): Rule[] {
  const rules: Rule[] = [];
  for (const reason of KEEP_REASONS) {
    const left = policy[reason] ?? 0;
    if (!Number.isSafeInteger(left) || left < -1) {
      throw new RangeError(`${reason}: ${left} is not a number of snapshots; use 0 or more, or -1 to keep all.`);
    }
    if (left !== 0) rules.push({ reason, left, last: undefined });
  }
  return rules;
}

function apply(rule: Rule, period: string, isOldest: boolean): boolean {
  if (rule.left === 0 || (rule.last === period && !isOldest)) return false;
  rule.last = period;
  if (rule.left > 0) rule.left--;
  return true;
}

/** Names the periods of a moment in a time zone. */
class Calendar {
  private readonly format: Intl.DateTimeFormat;

  constructor(timeZone: string) {
    this.format = new Intl.DateTimeFormat('en-US', {
      timeZone,
      calendar: 'gregory',
      numberingSystem: 'latn',
      hourCycle: 'h23',
      year: 'numeric',
      month: '2-digit',
      day: '2-digit',
      hour: '2-digit',
    });
  }

  periodsOf(time: number, index: number): Record<(typeof KEEP_REASONS)[number], string> {
    const parts = Object.fromEntries(this.format.formatToParts(time).map(({ type, value }) => [type, value]));
    const { year = '', month = '', day = '', hour = '' } = parts;
    return {
      last: String(index),
      hourly: `${year}-${month}-${day}T${hour}`,
      daily: `${year}-${month}-${day}`,
      weekly: isoWeek(Number(year), Number(month), Number(day)),
      monthly: `${year}-${month}`,
      yearly: year,
    };
  }
}

/** The ISO 8601 week: it belongs to the year of its Thursday. */
function isoWeek(year: number, month: number, day: number): string {
  const date = new Date(Date.UTC(year, month - 1, day));
  date.setUTCDate(date.getUTCDate() + 3 - ((date.getUTCDay() + 6) % 7));
  const thursday = date.getTime();
  const ofYear = date.getUTCFullYear();
  return `${ofYear}-W${1 + Math.floor((thursday - Date.UTC(ofYear, 0, 1)) / (7 * 24 * 60 * 60_000))}`;
}
