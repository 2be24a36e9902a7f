import { collectDefaultMetrics, Gauge, Registry as Series } from 'prom-client';

const INSTANCE_LABELS = ['name', 'kind', 'backend', 'context', 'namespace', 'pool'] as const;

/** Every series of the service with its help text; docs/reference/metrics.md is generated from it. */
export function createSeries() {
  const registry = new Series();
  const gauge = <L extends string>(name: string, help: string, labelNames: readonly L[] = []): Gauge<L> =>
    new Gauge({ name, help, labelNames: [...labelNames], registers: [registry] });
  return {
    registry,
    collectionSuccess: gauge('svc_collection_success', 'Whether the last collection succeeded: 1 or 0.'),
    collectionAge: gauge('svc_collection_age_seconds', 'Age of the snapshot behind this exposition.'),
    collectionDuration: gauge('svc_collection_duration_seconds', 'Duration of the last collection.'),
    backendUp: gauge('svc_backend_up', 'Whether a context can be reached: 1 or 0.', ['context', 'backend']),
    info: gauge('svc_instance_info', 'Always 1; its labels describe an instance.', [
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
    poolInstances: gauge('svc_pool_instances', 'Instances in a folder, without those of the folders in it.', ['pool']),
    poolRunning: gauge('svc_pool_running', 'Running instances in a folder, without those of the folders in it.', [
      'pool',
    ]),
    check: gauge('svc_check', 'Always 1; the labels are a check of the doctor and its status.', [
      'name',
      'context',
      'severity',
    ]),
    tasks: gauge('svc_tasks', 'Tasks in the store, by kind and status.', ['kind', 'status']),
    storageFree: gauge(
      'svc_storage_free_bytes',
      'Free space of the disk of a storage pool. Clusters have no such series: their storage classes do not report it.',
      ['context', 'storage'],
    ),
    storageRequired: gauge(
      'svc_storage_required_bytes',
      'Free space of that disk below which changes that need more of it are refused with INSUFFICIENT_STORAGE.',
      ['context', 'storage'],
    ),
    registryFree: gauge('svc_registry_free_bytes', 'Free space of the disk that holds the registry.'),
    registryRequired: gauge(
      'svc_registry_required_bytes',
      'Free space of that disk below which changes are refused with REGISTRY_FULL.',
    ),
  };
}

export type SeriesSet = ReturnType<typeof createSeries>;

/** Adds the series of the process itself: memory, CPU, event loop. */
export const collectProcessMetrics = ({ registry }: SeriesSet): void => collectDefaultMetrics({ register: registry });
