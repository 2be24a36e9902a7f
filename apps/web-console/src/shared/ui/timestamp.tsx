interface TimestampProps {
  /** ISO 8601. */
  at: string;
  /** Only the day; the tooltip has the time. */
  brief?: boolean;
}

const DAY = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium' });
const FULL = new Intl.DateTimeFormat(undefined, {
  year: 'numeric',
  month: 'short',
  day: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  timeZoneName: 'short',
});

/** A point in time in the browser's time zone; the tooltip has it in UTC, for comparison with logs. */
export function Timestamp({ at, brief = false }: TimestampProps) {
  const date = new Date(at);
  if (Number.isNaN(date.getTime())) return <>{at}</>;
  const utc = `${date.toISOString().replace('T', ' ').slice(0, 19)} UTC`;
  return (
    <time dateTime={at} title={brief ? `${FULL.format(date)}, ${utc}` : utc}>
      {brief ? DAY.format(date) : FULL.format(date)}
    </time>
  );
}
