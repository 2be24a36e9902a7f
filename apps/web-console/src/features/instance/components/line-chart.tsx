import { useId } from 'react';
import { hasValues, largestValue, linePath, type ChartSeries } from '../chart-lines.js';

interface LineChartProps {
  title: string;
  times: readonly number[];
  series: readonly ChartSeries[];
  format: (value: number) => string;
  /** The value at the top, unless a line exceeds it. */
  max?: number;
}

const WIDTH = 600;
const HEIGHT = 120;
const HOUR_MS = 3_600_000;

/** Lines over the last hour. Its text alternative has the current values; the table of the tab has all of them. */
export function LineChart({ title, times, series, format, max = 0 }: LineChartProps) {
  const id = useId();
  const to = times.at(-1) ?? 0;
  const area = { width: WIDTH, height: HEIGHT, from: to - HOUR_MS, to, max: largestValue(series, max) };
  const current = series.map(({ label, values }) => ({ label, value: values.at(-1) ?? null }));
  return (
    <section className="hg-card" aria-labelledby={id}>
      <h2 id={id}>{title}</h2>
      {hasValues(series) ? (
        <>
          <p className="hg-chart-legend">
            {current.map(({ label, value }, index) => (
              <span key={label}>
                <span className={`hg-chart-key hg-chart-line--${index + 1}`} aria-hidden="true" />
                {label}: {value === null ? 'unknown' : format(value)}
              </span>
            ))}
          </p>
          <svg
            className="hg-chart"
            viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
            preserveAspectRatio="none"
            role="img"
            aria-label={`${title} over the last hour, from 0 to ${format(area.max)}`}
          >
            {series.map(({ label, values }, index) => (
              <path key={label} className={`hg-chart-line--${index + 1}`} d={linePath(times, values, area)} />
            ))}
          </svg>
          <p className="hg-chart-scale hg-note" aria-hidden="true">
            <span>1 hour ago</span>
            <span>Top: {format(area.max)}</span>
            <span>Now</span>
          </p>
        </>
      ) : (
        <p className="hg-note">Not measured here</p>
      )}
    </section>
  );
}
