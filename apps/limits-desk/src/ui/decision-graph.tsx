import type { Series } from '../api/types.js';

const HEIGHT = 28;
const STEP = 4;
const SERIES: readonly Series[] = ['granted', 'refused', 'shadow_refused'];
const WORDS: Record<Series, string> = { granted: 'granted', refused: 'refused', shadow_refused: 'would be refused' };

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

/** The decisions of a rule per minute as stacked bars, each rule with a scale of its own. */
export function DecisionGraph({ name, values }: { name: string; values: Record<Series, readonly number[]> }) {
  const minutes = values.granted.length;
  const totals = values.granted.map((_, minute) => sum(SERIES.map((series) => values[series][minute] ?? 0)));
  const highest = Math.max(1, ...totals);
  const words = SERIES.map((series) => `${sum(values[series])} ${WORDS[series]}`).join(', ');
  return (
    <svg
      className="desk-graph"
      viewBox={`0 0 ${minutes * STEP} ${HEIGHT}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={`${name} in the last hour: ${words}; at most ${highest} in a minute`}
    >
      <line x1="0" x2={minutes * STEP} y1={HEIGHT - 0.5} y2={HEIGHT - 0.5} />
      {values.granted.map((_, minute) => {
        let bottom = HEIGHT;
        return SERIES.map((series) => {
          const height = ((values[series][minute] ?? 0) / highest) * (HEIGHT - 2);
          bottom -= height;
          if (height === 0) return null;
          return <rect key={series} className={series} x={minute * STEP} y={bottom} width={STEP - 1} height={height} />;
        });
      })}
    </svg>
  );
}
