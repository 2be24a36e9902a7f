import { readableCpus } from '../../../shared/texts/formats.js';
import { t as translate } from '@lingui/core/macro';
import type { VmView } from '@headgate/api-contracts';
import { readableBytes } from '../../../shared/quantity/quantity.js';
import { ErrorAlert } from '../../../shared/ui/error-alert.js';
import { useMetricsHistory } from '../api/use-metrics.js';
import { ranges } from '../chart-ranges.js';
import { LineChart } from './line-chart.js';

/** The CPU and the memory of a VM in the last hour, small. */
export function PeekGraphs({ vm, isWanted }: { vm: VmView; isWanted: boolean }) {
  const { data: samples, error, refetch } = useMetricsHistory(vm, isWanted);
  if (error && !samples)
    return <ErrorAlert title={translate`Couldn't load the metrics`} error={error} onRetry={() => void refetch()} />;
  if (!samples || samples.length === 0) return null;
  const times = samples.map(({ t }) => t);
  return (
    <div className="hg-peek-graphs">
      <LineChart
        title="CPU"
        range={ranges()['1h']}
        times={times}
        series={[{ label: 'CPU', values: samples.map(({ cpu }) => cpu ?? null) }]}
        format={(millicores) => translate`${readableCpus(millicores)} of ${vm.cpu}`}
        max={vm.cpu * 1000}
      />
      <LineChart
        title={translate`Memory`}
        range={ranges()['1h']}
        times={times}
        series={[{ label: translate`Memory`, values: samples.map(({ memory }) => memory?.usedBytes ?? null) }]}
        format={readableBytes}
        max={samples.at(-1)?.memory?.totalBytes ?? 0}
      />
    </div>
  );
}
