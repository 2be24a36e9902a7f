import { useQuery } from '@tanstack/react-query';
import { extensionPath, instancePath, type InstanceAddress } from '../../../shared/api/instance-path.js';
import { getJson } from '../../../shared/api/request.js';
import { SAMPLE_INTERVAL_MS } from '../../../shared/fleet/use-usage.js';
import type { StepRange } from '../chart-ranges.js';

/** The shortest step is three minutes, but the one that has not ended has new samples. */
const STEPS_INTERVAL_MS = 60_000;

/** The samples of the last hour, oldest first. */
export const useMetricsHistory = (address: InstanceAddress, enabled = true) =>
  useQuery({
    enabled,
    queryKey: ['metrics-history', address.context, address.namespace, address.name],
    queryFn: ({ signal }) =>
      getJson(`${instancePath('vms', address)}/metrics/history`, {
        query: { context: address.context },
        signal,
      }),
    refetchInterval: SAMPLE_INTERVAL_MS,
  });

/** The averages and maxima of a longer range; nothing is requested without one. */
export const useUsageSteps = (address: InstanceAddress, range: StepRange | undefined) =>
  useQuery({
    enabled: range !== undefined,
    queryKey: ['usage-steps', address.context, address.namespace, address.name, range],
    queryFn: ({ signal }) =>
      getJson(`${extensionPath(address)}/metrics/history`, {
        query: { context: address.context, range },
        signal,
      }),
    refetchInterval: STEPS_INTERVAL_MS,
  });

/** Why a VM has no samples. */
export const useMissingMetrics = (address: InstanceAddress, { enabled }: { enabled: boolean }) =>
  useQuery({
    queryKey: ['metrics', address.context, address.namespace, address.name],
    queryFn: ({ signal }) =>
      getJson(`${instancePath('vms', address)}/metrics`, { query: { context: address.context }, signal }),
    refetchInterval: SAMPLE_INTERVAL_MS,
    enabled,
  }).data?.reason;
