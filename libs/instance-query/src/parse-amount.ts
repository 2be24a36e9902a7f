import type { AmountField } from './fields.js';
import type { Amount } from './query.js';

const COUNT = /^\d{1,15}(?:\.\d{1,15})?$/;
/** As in the other sizes of the API, `8G` means the same as `8Gi`, and a number alone is bytes. */
const SIZE = /^(\d{1,15}(?:\.\d{1,15})?) ?(?:([KMGTP])(?:i?B?)?|B)?$/i;
const UNITS = 'KMGTP';
const DAY = /^\d{4}-\d\d-\d\d$/;
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?(?:Z|[+-]\d\d:\d\d)$/i;
const DAY_MS = 24 * 60 * 60 * 1000;

const TIME_EXAMPLE = 'a day such as 2026-01-31, or a time such as 2026-01-31T08:00Z';

/** The amounts that a message asks for. */
export const EXAMPLES: Readonly<Record<AmountField, string>> = {
  cpu: 'a number such as 4',
  mem: 'a size such as 8Gi or 512Mi',
  disk: 'a size such as 20Gi',
  pending: 'a number such as 0',
  created: TIME_EXAMPLE,
  started: TIME_EXAMPLE,
};

/** The amount of a field; undefined for other text. */
export function parseAmount(field: AmountField, text: string): Amount | undefined {
  if (field === 'created' || field === 'started') return parseTime(text);
  const amount = field === 'cpu' || field === 'pending' ? (COUNT.test(text) ? Number(text) : NaN) : bytesOf(text);
  return Number.isNaN(amount) ? undefined : { text, first: amount, last: amount };
}

/** The bytes of `8Gi`, `8G`, `8 GiB` or `1.5gb`; NaN for other text. */
export function bytesOf(text: string): number {
  const match = SIZE.exec(text);
  if (!match) return NaN;
  const [, digits = '', unit = ''] = match;
  return Number(digits) * 1024 ** (unit === '' ? 0 : UNITS.indexOf(unit.toUpperCase()) + 1);
}

/** A day is the 24 hours of that day in UTC. */
function parseTime(text: string): Amount | undefined {
  const isDay = DAY.test(text);
  if (!isDay && !TIME.test(text)) return undefined;
  const first = Date.parse(text.toUpperCase());
  // JavaScript reads February 30 as a day in March.
  if (Number.isNaN(first) || (isDay && new Date(first).toISOString().slice(0, 10) !== text)) return undefined;
  return { text, first, last: isDay ? first + DAY_MS - 1 : first };
}
