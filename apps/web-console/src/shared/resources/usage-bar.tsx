/** From these parts on, a bar warns and alarms. */
const WARNING = 0.7;
const DANGER = 0.85;

interface UsageBarProps {
  used: number | null;
  total: number | null;
  /** The text next to the bar; the part in percent without it. */
  text?: string;
}

/** The used part of something as a bar. Amber from 70 %, red from 85 %; without a bar where a value is unknown. */
export function UsageBar({ used, total, text }: UsageBarProps) {
  if (used === null || total === null || total === 0) return <span>{text ?? '–'}</span>;
  const share = used / total;
  const tone = share >= DANGER ? 'danger' : share >= WARNING ? 'warning' : 'usual';
  return (
    <span className="hg-meter">
      <span className={`hg-meter-bar hg-meter-bar--${tone}`} aria-hidden="true">
        <span style={{ inlineSize: `${Math.min(share, 1) * 100}%` }} />
      </span>
      {text ?? `${Math.round(share * 100)}%`}
    </span>
  );
}
