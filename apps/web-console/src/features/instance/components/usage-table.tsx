import { t } from '@lingui/core/macro';
import { numeric, Table } from '../../../shared/ui/table.js';
import { Timestamp } from '../../../shared/ui/timestamp.js';
import type { ChartRange } from '../chart-ranges.js';
import { measures, type Measure, type UsagePoint } from '../measures.js';
import { perLanguage } from '../../../shared/texts/per-language.js';

const columns = perLanguage(() => [t`Time`, ...Object.values(measures()).map(({ label }) => numeric(label))]);

/** All values of the charts, newest first; of steps the average, and the maximum if that is another one. */
export const UsageTable = ({ points, range }: { points: readonly UsagePoint[]; range: ChartRange }) => (
  <Table label={t`Metrics of the last ${range.label}, newest first`} isWide columns={columns()}>
    {points.toReversed().map((point) => (
      <tr key={point.t}>
        <td>
          <Timestamp at={new Date(point.t).toISOString()} />{' '}
          {point.simulated && <span className="hg-note">{t`Simulated`}</span>}
        </td>
        {Object.values(measures()).map((measure) => (
          <td key={measure.label} className="hg-numeric">
            {cellText(point, measure)}
          </td>
        ))}
      </tr>
    ))}
  </Table>
);

function cellText(point: UsagePoint, { of, format }: Measure): string {
  const [value, max] = [of(point), point.max && of(point.max)];
  if (value === null || value === undefined) return '–';
  const text = format(value);
  if (max === null || max === undefined || format(max) === text) return text;
  return t`${text}, max ${format(max)}`;
}
