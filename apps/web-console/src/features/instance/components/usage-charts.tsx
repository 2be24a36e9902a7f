import { t as translate } from '@lingui/core/macro';
import { isMeasured, readOf, type Instance } from '../../../shared/instances/instance.js';
import { cpuShare, percentage } from '../../../shared/list/usage-columns.js';
import { readableBytes } from '../../../shared/quantity/quantity.js';
import { Disclosure } from '../../../shared/ui/disclosure.js';
import { useEvents } from '../api/use-events.js';
import type { ChartRange } from '../chart-ranges.js';
import { marksIn } from '../event-marks.js';
import { measures, type Measure, type UsagePoint } from '../measures.js';
import { LineChart } from './line-chart.js';
import { MarkLine } from './mark-line.js';
import { UsageTable } from './usage-table.js';

interface UsageChartsProps {
  vm: Instance;
  range: ChartRange;
  /** Oldest first, at least one. */
  points: readonly UsagePoint[];
  /** When the range ends, in milliseconds since the epoch; at the newest point by default. */
  end?: number;
}

/** The usage of an instance as charts, and as a table. */
export function UsageCharts({ vm, range, points, end }: UsageChartsProps) {
  const { data: events = [] } = useEvents(readOf(vm));
  const newest = points.at(-1);
  const to = end ?? newest?.t ?? 0;
  const marks = marksIn(events, { from: to - range.ms, to });
  const simulated = points.map(({ simulated: isInvented = false }) => isInvented);
  const chart = { range, times: points.map(({ t }) => t), simulated, end, marks };
  const isSteps = newest?.max !== undefined;
  const line = ({ label, of }: Measure) => ({
    label,
    values: points.map((point) => of(point) ?? null),
    maxima: isSteps ? points.map(({ max }) => (max && of(max)) ?? null) : undefined,
  });
  // The last sample of an instance that does not run, and the average of a step, are not its current usage.
  const share = isMeasured(vm) && !isSteps ? cpuShare(vm, newest) : undefined;
  return (
    <>
      <MarkLine marks={marks} from={to - range.ms} to={to} />
      <div className="hg-usage-charts">
        <LineChart
          title={share === undefined ? 'CPU' : translate`CPU, ${percentage(share)}`}
          {...chart}
          series={[line(measures().cpu)]}
          format={measures().cpu.format}
          max={vm.cpu * 1000}
        />
        <LineChart
          title={translate`Memory`}
          {...chart}
          series={[line(measures().memory)]}
          format={readableBytes}
          max={newest?.memory?.totalBytes ?? 0}
        />
        <LineChart
          title={translate`Disk`}
          {...chart}
          series={[line(measures().read), line(measures().write)]}
          format={measures().read.format}
        />
        <LineChart
          title={translate`Network`}
          {...chart}
          series={[line(measures().receive), line(measures().transmit)]}
          format={measures().receive.format}
        />
      </div>
      <Disclosure label={translate`All values as a table`}>
        <UsageTable points={points} range={range} />
      </Disclosure>
    </>
  );
}
