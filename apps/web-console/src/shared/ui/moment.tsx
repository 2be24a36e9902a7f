interface MomentProps {
  /** ISO 8601. */
  at: string;
  /** The day only; the rest is in the hint. */
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

/** A point in time where the reader is, with its zone; the hint has it in UTC, as logs have it. */
export function Moment({ at, brief = false }: MomentProps) {
  const date = new Date(at);
  if (Number.isNaN(date.getTime())) return <>{at}</>;
  const utc = `${date.toISOString().replace('T', ' ').slice(0, 19)} UTC`;
  return (
    <time dateTime={at} title={brief ? `${FULL.format(date)}, ${utc}` : utc}>
      {brief ? DAY.format(date) : FULL.format(date)}
    </time>
  );
}
