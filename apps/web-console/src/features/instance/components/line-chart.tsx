import { t as translate } from '@lingui/core/macro';
import { useId, useState, type PointerEvent } from 'react';
import { Timestamp } from '../../../shared/ui/timestamp.js';
import { bandPath, hasValues, largestValue, linePath, nearestSample, type ChartSeries } from '../chart-lines.js';
import { scaleLabels, type ChartRange } from '../chart-ranges.js';
import type { EventMark } from '../event-marks.js';

interface LineChartProps {
  title: string;
  range: ChartRange;
  times: readonly number[];
  series: readonly ChartSeries[];
  format: (value: number) => string;
  /** The value at the top, unless a line exceeds it. */
  max?: number;
  /** The right end, in milliseconds since the epoch; the newest time by default. */
  end?: number;
  /** Which of the values were invented for the past of a simulated cluster; by default none. */
  simulated?: readonly boolean[];
  /** The events within the range. */
  marks?: readonly EventMark[];
}

const WIDTH = 600;
const HEIGHT = 120;

/**
 * Lines over a range of time. The legend has the current values, or those under the pointer; the table of the tab is
 * the alternative for the keyboard and for screen readers.
 */
export function LineChart(props: LineChartProps) {
  const { title, range, times, series, format, max = 0, end, simulated = [], marks = [] } = props;
  const id = useId();
  const [pointedTime, setPointedTime] = useState<number>();
  const to = end ?? times.at(-1) ?? 0;
  const from = to - range.ms;
  const area = { width: WIDTH, height: HEIGHT, from, to, max: largestValue(series, max), maxGapMs: range.maxGapMs };
  const shown = pointedTime === undefined ? times.length - 1 : nearestSample(times, pointedTime);
  const shownTime = times[shown] ?? to;
  const point = ({ currentTarget, clientX }: PointerEvent): void => {
    const { left, width } = currentTarget.getBoundingClientRect();
    if (width > 0) setPointedTime(area.from + ((clientX - left) / width) * range.ms);
  };
  return (
    <section className="hg-card" aria-labelledby={id}>
      <h2 id={id}>{title}</h2>
      {hasValues(series) ? (
        <>
          <p className="hg-chart-legend">
            {series.map(({ label, values, maxima }, index) => (
              <span key={label}>
                <span className={`hg-chart-key hg-chart-line--${index + 1}`} aria-hidden="true" />
                {label}: {valueText(values[shown] ?? null, format)}
                {maxima && translate`, max ${valueText(maxima[shown] ?? null, format)}`}
              </span>
            ))}
            {pointedTime !== undefined && (
              <span className="hg-note">
                <Timestamp at={new Date(shownTime).toISOString()} /> {simulated[shown] && translate`Simulated`}
              </span>
            )}
          </p>
          <p className="hg-chart-top hg-note" aria-hidden="true">
            {format(area.max)}
          </p>
          <svg
            className="hg-chart"
            viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
            preserveAspectRatio="none"
            role="img"
            aria-label={translate`${title} over the last ${range.label}, from 0 to ${format(area.max)}`}
            onPointerMove={point}
            onPointerLeave={() => setPointedTime(undefined)}
          >
            {marks.map(({ t, text }) => (
              <path
                key={`${t} ${text}`}
                className="hg-chart-mark"
                d={`M${Math.round(((t - area.from) / range.ms) * WIDTH)} 0v${HEIGHT}`}
              />
            ))}
            {pointedTime !== undefined && (
              <path
                className="hg-chart-pointer"
                d={`M${Math.round(((shownTime - area.from) / range.ms) * WIDTH)} 0v${HEIGHT}`}
              />
            )}
            {series.map(
              ({ label, values, maxima }, index) =>
                maxima && (
                  <path
                    key={label}
                    className={`hg-chart-band hg-chart-band--${index + 1}`}
                    d={bandPath(times, values, maxima, area)}
                  />
                ),
            )}
            {series.map(({ label, values }, index) => (
              <path key={label} className={`hg-chart-line--${index + 1}`} d={linePath(times, values, area)} />
            ))}
          </svg>
          <p className="hg-chart-scale hg-note" aria-hidden="true">
            {scaleLabels(range, from, to).map((label) => (
              <span key={label}>{label}</span>
            ))}
          </p>
        </>
      ) : (
        <p className="hg-note">{translate`This context reports no values`}</p>
      )}
    </section>
  );
}

const valueText = (value: number | null, format: (value: number) => string): string =>
  value === null ? translate`unknown` : format(value);
