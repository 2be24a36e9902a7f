const MINUTE_MS = 60_000;

/**
 * Round times of the browser's time zone in a span, such as each fourth hour or each midnight, in milliseconds since
 * the epoch. Those near the end are left out, where "Now" is.
 * @param offsetMinutes of the time zone, as `Date.getTimezoneOffset` returns it
 */
export function timeTicks(
  from: number,
  to: number,
  tickMinutes: number,
  offsetMinutes = (time: number): number => new Date(time).getTimezoneOffset(),
): number[] {
  const stepMs = tickMinutes * MINUTE_MS;
  const shiftMs = offsetMinutes(from) * MINUTE_MS;
  const ticks: number[] = [];
  for (let local = Math.ceil((from - shiftMs) / stepMs) * stepMs; local + shiftMs < to - stepMs / 2; local += stepMs) {
    // The offset of the tick itself: it may be in daylight saving time.
    const tick = local + offsetMinutes(local + shiftMs) * MINUTE_MS;
    if (tick >= from) ticks.push(tick);
  }
  return ticks;
}
