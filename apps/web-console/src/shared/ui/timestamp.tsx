import { formatLocale } from '../texts/formats.js';
import { perLanguage } from '../texts/per-language.js';

interface TimestampProps {
  /** ISO 8601. */
  at: string;
  /** Only the day; the tooltip has the time. */
  brief?: boolean;
}

const days = perLanguage(() => new Intl.DateTimeFormat(formatLocale(), { dateStyle: 'medium' }));
const moments = perLanguage(
  () =>
    new Intl.DateTimeFormat(formatLocale(), {
      year: 'numeric',
      month: 'short',
      day: 'numeric',
      hour: '2-digit',
      minute: '2-digit',
      second: '2-digit',
      timeZoneName: 'short',
    }),
);

/** A point in time in the browser's time zone; the tooltip has it in UTC, for comparison with logs. */
export function Timestamp({ at, brief = false }: TimestampProps) {
  const date = new Date(at);
  if (Number.isNaN(date.getTime())) return <>{at}</>;
  const utc = `${date.toISOString().replace('T', ' ').slice(0, 19)} UTC`;
  return (
    <time dateTime={at} title={brief ? `${moments().format(date)}, ${utc}` : utc}>
      {brief ? days().format(date) : moments().format(date)}
    </time>
  );
}
