import { t } from '@lingui/core/macro';
import type { HistoryRange } from '@headgate/api-contracts';
import { perLanguage } from '../texts/per-language.js';

interface RangeWording {
  /** On the button. */
  readonly button: string;
  /** After "the last". */
  readonly label: string;
  /** The distance of the times below the chart, in minutes. */
  readonly tickMinutes: number;
  /** How these times are written. */
  readonly scale: Intl.DateTimeFormatOptions;
}

const DAY_MINUTES = 24 * 60;

/** The ranges by their names in the address. */
export const ranges = perLanguage((): Readonly<Record<HistoryRange, RangeWording>> => ({
  '1h': { button: '1 h', label: t`hour`, tickMinutes: 10, scale: { hour: '2-digit', minute: '2-digit' } },
  '24h': { button: '24 h', label: t`24 hours`, tickMinutes: 4 * 60, scale: { hour: '2-digit', minute: '2-digit' } },
  '7d': { button: '7 d', label: t`7 days`, tickMinutes: DAY_MINUTES, scale: { weekday: 'short', day: 'numeric' } },
  '30d': { button: '30 d', label: t`30 days`, tickMinutes: 5 * DAY_MINUTES, scale: { month: 'short', day: 'numeric' } },
}));

export const isRange = (text: string): text is HistoryRange => Object.hasOwn(ranges(), text);
