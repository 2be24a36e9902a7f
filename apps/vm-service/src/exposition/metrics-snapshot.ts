import { isRunningStatus, isVm, type Clock, type Instance } from '@headgate/domain-contracts';
import type { Fleet } from '@headgate/fleet';
import type { TaskBoard } from '@headgate/tasks';
import type { SeriesSet } from './series.js';

/** How old a snapshot may become, in milliseconds. */
const REFRESH_EVERY = 15_000;
/** How many tasks are counted. */
const TASKS = 1000;

/**
 * The exposition as text, written anew on a timer: a scrape never asks a backend and costs the same whatever the fleet's
 * size. Only the snapshot's age is put in when it is read.
 */
export class MetricsSnapshot {
  private text = '';
  private takenAt = 0;
  private end: (() => void) | undefined;

  constructor(
    private readonly series: SeriesSet,
    private readonly fleet: Fleet,
    private readonly tasks: TaskBoard,
    private readonly clock: Clock,
  ) {}

  /** Begins to collect as soon as every context was heard of, and again whenever one goes or comes back. */
  start(): void {
    void this.fleet.whenSynced().then(() => this.refresh());
    const stopTimer = this.clock.every(REFRESH_EVERY, () => void this.refresh());
    const unsubscribe = this.fleet.subscribe(({ type }) => {
      if (type === 'status') void this.refresh();
    });
    this.end = () => {
      stopTimer();
      unsubscribe();
    };
  }

  stop(): void {
    this.end?.();
  }

  get contentType(): string {
    return this.series.registry.contentType;
  }

  read(): string {
    if (this.text === '') return WITHOUT;
    const age = (this.clock.now() - this.takenAt) / 1000;
    return this.text.replace(/^svc_collection_age_seconds .*$/m, `svc_collection_age_seconds ${age}`);
  }

  async refresh(): Promise<void> {
    const began = this.clock.now();
    try {
      this.collect();
      this.series.collectionSuccess.set(1);
      this.takenAt = this.clock.now();
    } catch {
      this.series.collectionSuccess.set(0);
    }
    this.series.collectionAge.set(0);
    this.series.collectionDuration.set((this.clock.now() - began) / 1000);
    this.text = await this.series.registry.metrics();
  }

  private collect(): void {
    const { backendUp, info, running, ready, cpuCores, memoryBytes, instances, tasks } = this.series;
    for (const gauge of [backendUp, info, running, ready, cpuCores, memoryBytes, instances, tasks]) gauge.reset();
    for (const { context, kind, state } of this.fleet.states())
      backendUp.set({ context, backend: kind }, Number(state === 'up'));
    for (const kind of ['vm', 'ct'] as const)
      for (const { instance } of this.fleet.all(kind)) this.collectInstance(instance);
    for (const { kind, status } of this.tasks.recent(TASKS)) tasks.inc({ kind, status });
  }

  private collectInstance(instance: Instance): void {
    const { ref, backend, node = '' } = instance;
    const labels = {
      name: ref.name,
      kind: ref.kind,
      backend,
      context: ref.context,
      namespace: ref.namespace,
      pool: '',
    };
    const state = isVm(instance) ? instance.status : instance.phase;
    const runs = isVm(instance) ? isRunningStatus(instance.status) : instance.phase === 'Running';
    this.series.info.set(
      { ...labels, node: runs ? node : '', template: String(isVm(instance) && instance.isTemplate) },
      1,
    );
    this.series.running.set(labels, Number(runs));
    this.series.ready.set(labels, Number(instance.ready));
    this.series.cpuCores.set(labels, instance.cpu);
    this.series.memoryBytes.set(labels, instance.memoryBytes);
    this.series.instances.inc({ backend, context: ref.context, state });
  }
}

/** What is said while nothing is collected. */
export const WITHOUT = `# HELP svc_collection_success Whether the last collection succeeded: 1 or 0.
# TYPE svc_collection_success gauge
svc_collection_success 0
`;
