import { useQuery } from '@tanstack/react-query';
import { instancePath, type InstanceAddress } from '../../../shared/api/instance-path.js';
import { getJson } from '../../../shared/api/request.js';
import { SAMPLE_INTERVAL_MS } from '../../../shared/fleet/use-usage.js';

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

/** Why a VM has no samples. */
export const useMissingMetrics = (address: InstanceAddress, { enabled }: { enabled: boolean }) =>
  useQuery({
    queryKey: ['metrics', address.context, address.namespace, address.name],
    queryFn: ({ signal }) =>
      getJson(`${instancePath('vms', address)}/metrics`, { query: { context: address.context }, signal }),
    refetchInterval: SAMPLE_INTERVAL_MS,
    enabled,
  }).data?.reason;
