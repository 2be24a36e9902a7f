import type { UsageHistoryView } from '@headgate/api-contracts';
import type { UsageOverTime } from '@headgate/metrics';
import { presentUsage } from '../fleet/present-usage.js';

export const presentHistory = ({ range, from, to, stepMs, points }: UsageOverTime): UsageHistoryView => ({
  range,
  from,
  to,
  stepMs,
  recordedSince: points.find(({ isSimulated }) => !isSimulated)?.time,
  points: points.map(({ time, average, maximum, isSimulated }) => ({
    t: time,
    ...presentUsage(average),
    max: presentUsage(maximum),
    ...(isSimulated && { simulated: true }),
  })),
});
