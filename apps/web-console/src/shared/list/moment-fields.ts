/** A day and a minute in it, in the time zone of the browser. */
export interface MomentFields {
  /** Such as `2026-01-31`. */
  readonly day: string;
  /** Since the beginning of the day. */
  readonly minute: number;
}

export const MINUTES_OF_A_DAY = 1440;

/** @returns undefined for a text that is no time */
export function fieldsOf(at: string): MomentFields | undefined {
  const date = new Date(at);
  if (Number.isNaN(date.getTime())) return undefined;
  const [year, month, day] = [date.getFullYear(), date.getMonth() + 1, date.getDate()];
  return {
    day: [String(year).padStart(4, '0'), two(month), two(day)].join('-'),
    minute: date.getHours() * 60 + date.getMinutes(),
  };
}

/**
 * The moment in ISO 8601; now, if it is in the future.
 * @returns undefined for a text that is no day
 */
export function momentOf({ day, minute }: MomentFields, now: number): string | undefined {
  const [year, month, date] = day.split('-').map(Number);
  const time = new Date(year ?? Number.NaN, (month ?? Number.NaN) - 1, date, 0, minute).getTime();
  return Number.isNaN(time) ? undefined : new Date(Math.min(time, now)).toISOString();
}

const two = (value: number): string => String(value).padStart(2, '0');
