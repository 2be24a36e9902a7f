import type { MetricsView } from '@headgate/api-contracts';
import type { LiveMetrics } from '@headgate/metrics';
import { NO_USAGE, presentUsage } from '../fleet/present-usage.js';

export const presentLive = ({ sample, reason }: LiveMetrics): MetricsView =>
  sample ? { ...presentUsage(sample), t: sample.time } : { ...NO_USAGE, reason };
