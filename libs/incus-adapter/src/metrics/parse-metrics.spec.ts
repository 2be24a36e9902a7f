import { parseMetrics } from './parse-metrics.js';

test('reads the values of both servers with their labels, and leaves out those of no instance', () => {
  const text = `# HELP incus_cpu_seconds_total The total number of CPU time used in seconds.
# TYPE incus_cpu_seconds_total counter
incus_cpu_seconds_total{cpu="0",mode="system",name="c1",project="default",type="container"} 0.0039
lxd_memory_MemTotal_bytes{name="c1",project="a \\"b\\" \\\\ c",type="container"} 2.4684084e+10
lxd_memory_MemFree_bytes{name="c1"} NaN
incus_uptime_seconds 11.8
# EOF`;
  expect(parseMetrics(text)).toEqual([
    {
      name: 'cpu_seconds_total',
      labels: { cpu: '0', mode: 'system', name: 'c1', project: 'default', type: 'container' },
      value: 0.0039,
    },
    {
      name: 'memory_MemTotal_bytes',
      labels: { name: 'c1', project: 'a "b" \\ c', type: 'container' },
      value: 24684084000,
    },
  ]);
});
