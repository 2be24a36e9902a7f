/** Units of durations as Go writes them, in milliseconds. */
const UNITS_MS: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
};

/** The milliseconds of a duration such as `3h59m50.5s`; undefined for anything else. */
export function parseGoDuration(text: unknown): number | undefined {
  if (typeof text !== 'string' || !/^-?(?:\d+(?:\.\d+)?(?:ns|us|µs|ms|s|m|h))+$/.test(text)) return undefined;
  let ms = 0;
  for (const [, amount, unit = ''] of text.matchAll(/(\d+(?:\.\d+)?)(ns|us|µs|ms|s|m|h)/g))
    ms += Number(amount) * UNITS_MS[unit]!;
  return text.startsWith('-') ? -ms : ms;
}

/** A duration as Go writes those of at least a second, to the millisecond: `1h0m0.5s`. */
export function formatGoDuration(ms: number): string {
  const whole = Math.round(Math.abs(ms));
  const [hours, minutes] = [Math.floor(whole / 3_600_000), Math.floor(whole / 60_000) % 60];
  const parts = [hours > 0 ? `${hours}h` : '', hours + minutes > 0 ? `${minutes}m` : '', `${(whole % 60_000) / 1000}s`];
  return `${ms < 0 && whole > 0 ? '-' : ''}${parts.join('')}`;
}
