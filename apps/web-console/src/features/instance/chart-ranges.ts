import { formatLocale } from '../../shared/texts/formats.js';
import { t } from '@lingui/core/macro';
import type { HistoryRange } from '@headgate/api-contracts';
import { perLanguage } from '../../shared/texts/per-language.js';

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

const stepRanges = perLanguage(
  () =>
    ({
      '24h': {
        label: t`24 hours`,
        ago: t`24 hours`,
        ms: DAY_MS,
        scale: { hour: '2-digit', minute: '2-digit' },
        maxGapMs: 3 * MINUTE_MS,
      },
      '7d': {
        label: t`7 days`,
        ago: t`7 days`,
        ms: 7 * DAY_MS,
        scale: { weekday: 'short' },
        maxGapMs: 15 * MINUTE_MS,
      },
      '30d': {
        label: t`30 days`,
        ago: t`30 days`,
        ms: 30 * DAY_MS,
        scale: { month: 'short', day: 'numeric' },
        maxGapMs: HOUR_MS,
      },
    }) as const satisfies Readonly<Record<StepRange, ChartRange>>,
);

/** By their names in the address. */
export const ranges = perLanguage(
  () =>
    ({
      '5m': { label: t`5 minutes`, ago: t`5 minutes`, ms: 5 * MINUTE_MS },
      '15m': { label: t`15 minutes`, ago: t`15 minutes`, ms: 15 * MINUTE_MS },
      '30m': { label: t`30 minutes`, ago: t`30 minutes`, ms: 30 * MINUTE_MS },
      '1h': { label: t`hour`, ago: t`1 hour`, ms: HOUR_MS },
      ...stepRanges(),
    }) as const satisfies Readonly<Record<string, ChartRange>>,
);

export type RangeName = keyof ReturnType<typeof ranges>;

export const isRange = (text: string): text is RangeName => Object.hasOwn(ranges(), text);
export const isStepRange = (name: RangeName): name is StepRange => Object.hasOwn(stepRanges(), name);

/** How many times are below a chart, at equal distances. */
const SCALE_LABELS = 5;

/**
 * The texts below a chart, from left to right.
 * @param locale that of the texts by default
 */
export function scaleLabels(range: ChartRange, from: number, to: number, locale = formatLocale()): string[] {
  if (!range.scale) return [t`${range.ago} ago`, t`Now`];
  const format = new Intl.DateTimeFormat(locale, range.scale);
  const stepMs = (to - from) / (SCALE_LABELS - 1);
  const earlier = Array.from({ length: SCALE_LABELS - 1 }, (_none, index) => format.format(from + index * stepMs));
  return [...earlier, t`Now`];
}
