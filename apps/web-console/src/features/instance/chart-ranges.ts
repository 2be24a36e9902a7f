import type { HistoryRange } from '@headgate/api-contracts';

/** How far back a chart goes. */
export interface ChartRange {
  /** After "the last". */
  readonly label: string;
  /** Before "ago". */
  readonly ago: string;
  readonly ms: number;
  /** How times are written below the chart; absent for "ago" and "Now". */
  readonly scale?: Intl.DateTimeFormatOptions;
  /** A longer time between two values interrupts a line. */
  readonly maxGapMs?: number;
}

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** The ranges that are stored as steps, with averages and maxima. The service has single samples of the last hour. */
export type StepRange = Exclude<HistoryRange, '1h'>;

const STEP_RANGES = {
  '24h': {
    label: '24 hours',
    ago: '24 hours',
    ms: DAY_MS,
    scale: { hour: '2-digit', minute: '2-digit' },
    maxGapMs: 3 * MINUTE_MS,
  },
  '7d': {
    label: '7 days',
    ago: '7 days',
    ms: 7 * DAY_MS,
    scale: { weekday: 'short' },
    maxGapMs: 15 * MINUTE_MS,
  },
  '30d': {
    label: '30 days',
    ago: '30 days',
    ms: 30 * DAY_MS,
    scale: { month: 'short', day: 'numeric' },
    maxGapMs: HOUR_MS,
  },
} as const satisfies Readonly<Record<StepRange, ChartRange>>;

/** By their names in the address. */
export const RANGES = {
  '5m': { label: '5 minutes', ago: '5 minutes', ms: 5 * MINUTE_MS },
  '15m': { label: '15 minutes', ago: '15 minutes', ms: 15 * MINUTE_MS },
  '30m': { label: '30 minutes', ago: '30 minutes', ms: 30 * MINUTE_MS },
  '1h': { label: 'hour', ago: '1 hour', ms: HOUR_MS },
  ...STEP_RANGES,
} as const satisfies Readonly<Record<string, ChartRange>>;

export type RangeName = keyof typeof RANGES;

export const isRange = (text: string): text is RangeName => Object.hasOwn(RANGES, text);
export const isStepRange = (name: RangeName): name is StepRange => Object.hasOwn(STEP_RANGES, name);

/** How many times are below a chart, at equal distances. */
const SCALE_LABELS = 5;

/**
 * The texts below a chart, from left to right.
 * @param locale that of the browser by default
 */
export function scaleLabels(range: ChartRange, from: number, to: number, locale?: string): string[] {
  if (!range.scale) return [`${range.ago} ago`, 'Now'];
  const format = new Intl.DateTimeFormat(locale, range.scale);
  const stepMs = (to - from) / (SCALE_LABELS - 1);
  const earlier = Array.from({ length: SCALE_LABELS - 1 }, (_none, index) => format.format(from + index * stepMs));
  return [...earlier, 'Now'];
}
