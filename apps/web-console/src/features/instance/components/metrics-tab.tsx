import type { MetricsSampleView, VmView } from '@headgate/api-contracts';
import { useState } from 'react';
import { cpuShare, percentage } from '../../../shared/list/usage-columns.js';
import { readableBytes } from '../../../shared/quantity/quantity.js';
import { Disclosure } from '../../../shared/ui/disclosure.js';
import { EmptyState } from '../../../shared/ui/empty-state.js';
import { ErrorAlert } from '../../../shared/ui/error-alert.js';
import { SelectInput } from '../../../shared/ui/inputs.js';
import { Skeleton } from '../../../shared/ui/loading.js';
import { numeric, Table } from '../../../shared/ui/table.js';
import { Timestamp } from '../../../shared/ui/timestamp.js';
import { useMetricsHistory, useMissingMetrics } from '../api/use-metrics.js';
import { LineChart, type ChartRange } from './line-chart.js';

const perSecond = (bytes: number): string => `${readableBytes(bytes)}/s`;

interface Measure {
  readonly label: string;
  readonly of: (sample: MetricsSampleView) => number | null | undefined;
  readonly format: (value: number) => string;
}

/** The columns of the table, and the lines of the charts. */
const MEASURES = {
  cpu: { label: 'CPU', of: ({ cpu }) => cpu, format: (millicores) => `${(millicores / 1000).toFixed(2)} CPUs` },
  memory: { label: 'Memory', of: ({ memory }) => memory?.usedBytes, format: readableBytes },
  read: { label: 'Read', of: ({ disk }) => disk?.readBytesPerSecond, format: perSecond },
  write: { label: 'Write', of: ({ disk }) => disk?.writeBytesPerSecond, format: perSecond },
  receive: { label: 'Receive', of: ({ network }) => network?.receiveBytesPerSecond, format: perSecond },
  transmit: { label: 'Transmit', of: ({ network }) => network?.transmitBytesPerSecond, format: perSecond },
} as const satisfies Readonly<Record<string, Measure>>;

const MINUTE_MS = 60_000;

/** The service keeps the samples of an hour. */
const RANGES: Readonly<Record<string, ChartRange>> = {
  '60': { label: 'hour', ago: '1 hour', ms: 60 * MINUTE_MS },
  '30': { label: '30 minutes', ago: '30 minutes', ms: 30 * MINUTE_MS },
  '15': { label: '15 minutes', ago: '15 minutes', ms: 15 * MINUTE_MS },
  '5': { label: '5 minutes', ago: '5 minutes', ms: 5 * MINUTE_MS },
};

/** The usage of a VM, up to the last hour. */
export function MetricsTab({ vm }: { vm: VmView }) {
  const { data: history, error, refetch } = useMetricsHistory(vm);
  const reason = useMissingMetrics(vm, { enabled: history?.length === 0 });
  const [chosen, setChosen] = useState('60');
  if (error && !history)
    return <ErrorAlert title="Couldn't load the metrics" error={error} onRetry={() => void refetch()} />;
  if (!history) return <Skeleton height="20rem" label="Loading the metrics" />;
  if (history.length === 0)
    return (
      <div className="hg-page">
        <EmptyState title="No metrics yet" level={2}>
          {reason ?? (vm.running ? 'The first values appear within a minute.' : 'A VM is measured while it runs.')}
        </EmptyState>
      </div>
    );

  const range = RANGES[chosen] as ChartRange;
  const since = (history.at(-1)?.t ?? 0) - range.ms;
  const samples = history.filter(({ t }) => t >= since);
  const times = samples.map(({ t }) => t);
  const line = ({ label, of }: Measure) => ({ label, values: samples.map((sample) => of(sample) ?? null) });
  const newest = samples.at(-1);
  // The last sample of a VM that does not run is not its current usage.
  const share = vm.running ? cpuShare(vm, newest) : undefined;
  return (
    <div className="hg-page">
      <div className="hg-toolbar hg-gap-below">
        <label htmlFor="metrics-range">Range</label>
        <SelectInput id="metrics-range" value={chosen} onChange={setChosen}>
          {Object.entries(RANGES)
            .toReversed()
            .map(([value, { label }]) => (
              <option key={value} value={value}>
                Last {label}
              </option>
            ))}
        </SelectInput>
      </div>
      <div className="hg-cards">
        <LineChart
          title={share === undefined ? 'CPU' : `CPU, ${percentage(share)}`}
          {...{ range, times }}
          series={[line(MEASURES.cpu)]}
          format={MEASURES.cpu.format}
          max={vm.cpu * 1000}
        />
        <LineChart
          title="Memory"
          {...{ range, times }}
          series={[line(MEASURES.memory)]}
          format={readableBytes}
          max={newest?.memory?.totalBytes ?? 0}
        />
        <LineChart
          title="Disk"
          {...{ range, times }}
          series={[line(MEASURES.read), line(MEASURES.write)]}
          format={perSecond}
        />
        <LineChart
          title="Network"
          {...{ range, times }}
          series={[line(MEASURES.receive), line(MEASURES.transmit)]}
          format={perSecond}
        />
      </div>
      <Disclosure label="All values as a table">
        <SampleTable samples={samples} range={range} />
      </Disclosure>
    </div>
  );
}

const COLUMNS = ['Time', ...Object.values(MEASURES).map(({ label }) => numeric(label))];

const SampleTable = ({ samples, range }: { samples: readonly MetricsSampleView[]; range: ChartRange }) => (
  <Table label={`Metrics of the last ${range.label}, newest first`} columns={COLUMNS}>
    {samples.toReversed().map((sample) => (
      <tr key={sample.t}>
        <td>
          <Timestamp at={new Date(sample.t).toISOString()} />
        </td>
        {Object.values(MEASURES).map(({ label, of, format }) => (
          <td key={label} className="hg-numeric">
            {valueText(of(sample), format)}
          </td>
        ))}
      </tr>
    ))}
  </Table>
);

const valueText = (value: number | null | undefined, format: (value: number) => string): string =>
  value === null || value === undefined ? '–' : format(value);
