import type { HistoryRange } from '@headgate/api-contracts';
import { readSearchFields, useSearchFields } from '../location/use-search-fields.js';
import { isRange } from './activity-ranges.js';

/** A span of time in milliseconds since the epoch; `to` is the moment after it. */
export interface TimeSpan {
  readonly from: number;
  readonly to: number;
}

interface ActivitySelection {
  readonly range: HistoryRange;
  /** Undefined while everything is shown. */
  readonly span: TimeSpan | undefined;
  readonly chooseRange: (range: HistoryRange) => void;
  readonly chooseSpan: (span: TimeSpan | undefined) => void;
}

const FIELDS = ['range', 'from', 'to'] as const;
const DEFAULT_RANGE: HistoryRange = '24h';

/** The range of the chart and the span that is selected in it, which are part of the address. */
export function useActivitySelection(): ActivitySelection {
  const [{ range, from, to }, change] = useSearchFields(FIELDS);
  return {
    range: isRange(range) ? range : DEFAULT_RANGE,
    span: toSpan(from, to),
    chooseRange: (chosen) => change({ range: chosen === DEFAULT_RANGE ? '' : chosen, from: '', to: '' }),
    chooseSpan: (span) => change({ from: toText(span?.from), to: toText(span?.to) }),
  };
}

/** The span that an address selects. @param search the part after its `?` */
export function spanOf(search: string): TimeSpan | undefined {
  const { from, to } = readSearchFields(search, FIELDS);
  return toSpan(from, to);
}

/** An address that was changed by hand selects nothing. */
function toSpan(from: string, to: string): TimeSpan | undefined {
  const span = { from: Date.parse(from), to: Date.parse(to) };
  return span.from < span.to ? span : undefined;
}

const toText = (time: number | undefined): string => (time === undefined ? '' : new Date(time).toISOString());

/** The part of an address that selects a range and a span, for another page with the chart. */
export const timesOf = (search: string): string => {
  const params = new URLSearchParams(search);
  for (const name of [...params.keys()]) if (!(FIELDS as readonly string[]).includes(name)) params.delete(name);
  return params.toString();
};
