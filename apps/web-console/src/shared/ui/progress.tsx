import { useId } from 'react';

interface ProgressProps {
  title: string;
  /** From 0 to 100. */
  percent: number;
  /** The progress in words, at the end of the title's line. */
  label?: string;
  valueText?: string;
  tone?: 'progress' | 'success' | 'danger';
}

export function Progress({ title, percent, label, valueText, tone = 'progress' }: ProgressProps) {
  const id = useId();
  return (
    <div className="hg-progress">
      <span id={id}>{title}</span>
      {label !== undefined && <span className="hg-note">{label}</span>}
      <div
        role="progressbar"
        aria-labelledby={id}
        aria-valuemin={0}
        aria-valuemax={100}
        aria-valuenow={Math.round(percent)}
        aria-valuetext={valueText}
        className={`hg-progress-track hg-status--${tone}`}
      >
        <div style={{ width: `${percent}%` }} />
      </div>
    </div>
  );
}
