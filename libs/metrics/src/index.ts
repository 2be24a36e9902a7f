export { MetricsSampler, type MetricsSamplerDeps } from './metrics-sampler.js';
export { ReadHistory, type HistoryPoint, type UsageOverTime } from './history/read-history.js';
export { UsageHistory, type UsageHistoryDeps } from './history/usage-history.js';
export { ReadMetrics, type LiveMetrics } from './read-metrics.js';
export { SampleRing } from './sample-ring.js';
export {
  HISTORY_MS,
  SAMPLE_INTERVAL_MS,
  type NodeLoad,
  type Sample,
  type SampledInstance,
  type SampleRecorder,
  type Usage,
} from './usage.js';
