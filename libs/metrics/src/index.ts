export { MetricsSampler, type MetricsSamplerDeps, type SampledInstance } from './metrics-sampler.js';
export { ReadMetrics, type LiveMetrics } from './read-metrics.js';
export { SampleRing } from './sample-ring.js';
export { HISTORY_MS, SAMPLE_INTERVAL_MS, type NodeLoad, type Sample, type Usage } from './usage.js';
