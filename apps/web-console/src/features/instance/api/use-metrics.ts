import { useQuery } from '@tanstack/react-query';
import type { MetricsSampleView } from '@headgate/api-contracts';
import { extensionPath, instancePath } from '../../../shared/api/instance-path.js';
import { getJson } from '../../../shared/api/request.js';
import { SAMPLE_INTERVAL_MS } from '../../../shared/fleet/use-usage.js';
import type { StepRange } from '../chart-ranges.js';
import { detailsKey, detailsPath, type ReadInstance } from './details-path.js';

/** The shortest step is three minutes, but the one that has not ended has new samples. */
const STEPS_INTERVAL_MS = 60_000;

/** The samples of the last hour, oldest first. */
export const useMetricsHistory = (instance: ReadInstance, enabled = true) =>
  useQuery({
    enabled,
    queryKey: ['metrics-history', ...detailsKey(instance)],
    queryFn: ({ signal }) => readSamples(instance, signal),
    refetchInterval: SAMPLE_INTERVAL_MS,
  });

async function readSamples(instance: ReadInstance, signal: AbortSignal): Promise<MetricsSampleView[]> {
  const { context } = instance;
  if (instance.collection !== 'cts')
    return getJson(`${instancePath('vms', instance)}/metrics/history`, { query: { context }, signal });
  const path = `${extensionPath(instance, 'cts')}/metrics/history` as const;
  const { points } = await getJson(path, { query: { context, range: '1h' }, signal });
  return points.map(({ max: _max, ...sample }) => sample);
}

/** The averages and maxima of a longer range; nothing is requested without one. */
export const useUsageSteps = (instance: ReadInstance, range: StepRange | undefined) =>
  useQuery({
    enabled: range !== undefined,
    queryKey: ['usage-steps', ...detailsKey(instance), range],
    queryFn: ({ signal }) =>
      getJson(`${extensionPath(instance, instance.collection ?? 'vms')}/metrics/history`, {
        query: { context: instance.context, range },
        signal,
      }),
    refetchInterval: STEPS_INTERVAL_MS,
  });

/** Why an instance has no samples. */
export const useMissingMetrics = (instance: ReadInstance, { enabled }: { enabled: boolean }) =>
  useQuery({
    queryKey: ['metrics', ...detailsKey(instance)],
    queryFn: ({ signal }) =>
      getJson(`${detailsPath(instance)}/metrics`, { query: { context: instance.context }, signal }),
    refetchInterval: SAMPLE_INTERVAL_MS,
    enabled,
  }).data?.reason;
