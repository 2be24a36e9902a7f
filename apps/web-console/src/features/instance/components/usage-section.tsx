import { t as translate } from '@lingui/core/macro';
import { Trans } from '@lingui/react/macro';
import type { UsageHistoryView } from '@headgate/api-contracts';
import { isMeasured, isVm, readOf, type Instance } from '../../../shared/instances/instance.js';
import { EmptyState } from '../../../shared/ui/empty-state.js';
import { ErrorAlert } from '../../../shared/ui/error-alert.js';
import { SelectInput } from '../../../shared/ui/inputs.js';
import { Skeleton } from '../../../shared/ui/loading.js';
import { Timestamp } from '../../../shared/ui/timestamp.js';
import { useMetricsHistory, useMissingMetrics, useUsageSteps } from '../api/use-metrics.js';
import { isStepRange, ranges, type RangeName, type StepRange } from '../chart-ranges.js';
import { useChartRange } from '../use-chart-range.js';
import { UsageCharts } from './usage-charts.js';

/** The usage of an instance, up to the last 30 days, with the events of that time. */
export function UsageSection({ vm }: { vm: Instance }) {
  const [range, choose] = useChartRange(vm);
  return (
    <section className="hg-card hg-usage" aria-label={translate`Usage`}>
      <div className="hg-toolbar">
        <h2>{translate`Usage`}</h2>
        <span className="hg-spring" />
        <label htmlFor="metrics-range">{translate`Range`}</label>
        <SelectInput id="metrics-range" value={range} onChange={choose}>
          {Object.entries(ranges()).map(([value, { label }]) => (
            <option key={value} value={value}>
              {translate`Last ${label}`}
            </option>
          ))}
        </SelectInput>
      </div>
      {isStepRange(range) ? <Steps vm={vm} range={range} /> : <Samples vm={vm} range={range} />}
    </section>
  );
}

/** The samples of the last hour, or of less. */
function Samples({ vm, range: name }: { vm: Instance; range: Exclude<RangeName, StepRange> }) {
  const { data: history, error, refetch } = useMetricsHistory(readOf(vm));
  if (error && !history) return <LoadError error={error} onRetry={() => void refetch()} />;
  if (!history) return <Skeleton height="20rem" label={translate`Loading the metrics`} />;
  if (history.length === 0) return <NoMetrics vm={vm} />;
  const range = ranges()[name];
  const since = (history.at(-1)?.t ?? 0) - range.ms;
  return <UsageCharts vm={vm} range={range} points={history.filter(({ t }) => t >= since)} />;
}

/** The averages and maxima of a longer range. */
function Steps({ vm, range: name }: { vm: Instance; range: StepRange }) {
  const { data: history, error, refetch } = useUsageSteps(readOf(vm), name);
  if (error && !history) return <LoadError error={error} onRetry={() => void refetch()} />;
  if (!history) return <Skeleton height="20rem" label={translate`Loading the metrics`} />;
  const { points, from, to, stepMs, recordedSince } = history;
  const simulatedUntil = endOfSimulation(history);
  if (points.length === 0) return <NoMetrics vm={vm} range={name} />;
  return (
    <>
      {simulatedUntil !== undefined && (
        <p className="hg-note hg-gap-below">
          <Trans>
            Simulated until <Timestamp at={new Date(simulatedUntil).toISOString()} />
          </Trans>
        </p>
      )}
      {simulatedUntil === undefined && recordedSince !== undefined && recordedSince > from + stepMs && (
        <p className="hg-note hg-gap-below">
          <Trans>
            Recorded since <Timestamp at={new Date(recordedSince).toISOString()} />
          </Trans>
        </p>
      )}
      <UsageCharts vm={vm} range={ranges()[name]} points={points} end={to} />
    </>
  );
}

/** When the invented past ends, in milliseconds since the epoch; undefined without one. */
function endOfSimulation({ points, stepMs }: UsageHistoryView): number | undefined {
  const last = points.findLast(({ simulated }) => simulated);
  return last && last.t + stepMs;
}

const LoadError = (props: { error: Error; onRetry: () => void }) => (
  <ErrorAlert title={translate`Couldn't load the metrics`} {...props} />
);

function NoMetrics({ vm, range }: { vm: Instance; range?: StepRange }) {
  const reason = useMissingMetrics(readOf(vm), { enabled: true });
  const cause = isMeasured(vm)
    ? translate`The first values appear within a minute.`
    : isVm(vm)
      ? translate`A VM is measured while it runs.`
      : translate`A container is measured while it runs.`;
  return (
    <EmptyState
      title={range ? translate`No metrics in the last ${ranges()[range].label}` : translate`No metrics yet`}
      level={2}
    >
      {reason ?? cause}
    </EmptyState>
  );
}
