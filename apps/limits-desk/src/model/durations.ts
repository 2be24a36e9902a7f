const UNITS = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', 1_000],
] as const;

/** A length of time with one unit, rounded up: `59 s`, `2 min`, `3 h`. */
export function duration(ms: number): string {
  const [unit, size] = UNITS.find(([, length]) => ms >= length * 2) ?? UNITS[3];
  return `${Math.max(0, Math.ceil(ms / size))} ${unit}`;
}

/** A window of a rule: `1 min`, `30 s`, `1 h`. */
export function windowText(ms: number): string {
  const [unit, size] = UNITS.find(([, length]) => ms % length === 0) ?? ['ms', 1];
  return `${ms / size} ${unit}`;
}

/** How long ago a time was: `12 s ago`. */
export const ago = (time: string, nowMs: number): string => `${duration(Math.max(0, nowMs - Date.parse(time)))} ago`;

/** A time of day, with the date when it is of another day. */
export function clockTime(time: string, nowMs = Date.now()): string {
  const date = new Date(time);
  const text = date.toLocaleTimeString('en-GB');
  return date.toDateString() === new Date(nowMs).toDateString() ? text : `${date.toLocaleDateString('en-CA')} ${text}`;
}
