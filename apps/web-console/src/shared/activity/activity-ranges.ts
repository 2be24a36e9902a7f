import type { HistoryRange } from '@headgate/api-contracts';

/** The ranges by their names in the address: what they are called, and how times are written below them. */
export const RANGES: Readonly<
  Record<HistoryRange, { button: string; label: string; scale: Intl.DateTimeFormatOptions }>
> = {
  '1h': { button: '1 h', label: 'hour', scale: { hour: '2-digit', minute: '2-digit' } },
  '24h': { button: '24 h', label: '24 hours', scale: { hour: '2-digit', minute: '2-digit' } },
  '7d': { button: '7 d', label: '7 days', scale: { weekday: 'short', day: 'numeric' } },
  '30d': { button: '30 d', label: '30 days', scale: { month: 'short', day: 'numeric' } },
};

export const isRange = (text: string): text is HistoryRange => Object.hasOwn(RANGES, text);
