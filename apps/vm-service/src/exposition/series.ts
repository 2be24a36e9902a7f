import { collectDefaultMetrics, Gauge, Registry as Series } from 'prom-client';

const INSTANCE_LABELS = ['name', 'kind', 'backend', 'context', 'namespace', 'pool'] as const;

/** Every series of the service, with its help text, in one place; docs/reference/metrics.md is printed from it. */
export function makeSeries() {
  const registry = new Series();
  const gauge = <L extends string>(name: string, help: string, labelNames: readonly L[] = []): Gauge<L> =>
    new Gauge({ name, help, labelNames: [...labelNames], registers: [registry] });
  return {
    registry,
    collectionSuccess: gauge('svc_collection_success', 'Whether the last collection succeeded: 1 or 0.'),
    collectionAge: gauge('svc_collection_age_seconds', 'Age of the snapshot that this exposition shows.'),
    collectionDuration: gauge('svc_collection_duration_seconds', 'How long the last collection took.'),
    backendUp: gauge('svc_backend_up', 'Whether a context can be reached: 1 or 0.', ['context', 'backend']),
    info: gauge('svc_instance_info', 'Always 1; tells what an instance is.', [
      'name',
      'kind',
      'backend',
      'context',
      'namespace',
      'node',
      'pool',
      'template',
    ]),
    running: gauge('svc_instance_running', 'Whether an instance runs: 1 or 0.', INSTANCE_LABELS),
    ready: gauge('svc_instance_ready', 'Whether an instance is ready: 1 or 0.', INSTANCE_LABELS),
    cpuCores: gauge('svc_instance_cpu_cores', 'Virtual CPUs of an instance.', INSTANCE_LABELS),
    memoryBytes: gauge('svc_instance_memory_bytes', 'Memory of an instance in bytes.', INSTANCE_LABELS),
    instances: gauge('svc_instances', 'Instances by state.', ['backend', 'context', 'state']),
    tasks: gauge('svc_tasks', 'Tasks by kind and status, of those that are kept.', ['kind', 'status']),
  };
}

export type SeriesSet = ReturnType<typeof makeSeries>;

/** The process's own series: memory, CPU, event loop. */
export const watchProcess = ({ registry }: SeriesSet): void => collectDefaultMetrics({ register: registry });
