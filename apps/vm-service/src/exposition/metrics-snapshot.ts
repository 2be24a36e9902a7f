import { Inject, Injectable, type BeforeApplicationShutdown, type OnApplicationBootstrap } from '@nestjs/common';
import { BackendDirectory, Clock, INSTANCE_KINDS } from '@headgate/domain-contracts';
import { CheckBackends, type ContextCheck } from '@headgate/doctor';
import { FleetReader } from '@headgate/fleet';
import { Folders } from '@headgate/folders';
import { TaskReader } from '@headgate/tasks';
import type { Settings } from '../config/load-config.js';
import { Readiness } from '../platform/readiness.js';
import { checkRegistryDisk } from '../store/registry-check.js';
import { SETTINGS } from '../platform/tokens.js';
import { INSTANCE_SERIES, InstanceSeries, runs, stateOf } from './instance-series.js';
import { readStorageSpace, type ContextStorage } from './read-storage-space.js';
import { collectProcessMetrics, createSeries } from './series.js';

/** How old a snapshot may become. */
const REFRESH_INTERVAL_MS = 15_000;

/** A large fleet is collected and rendered in parts, so that requests are answered in between. */
const ENTRIES_PER_PART = 500;
const LINES_PER_PART = 500;
const AGE = 'svc_collection_age_seconds';

/**
 * The exposition, rendered into a buffer on a timer: a scrape never asks a backend and copies nothing, whatever the
 * size of the fleet. Only the age of the snapshot is computed when it is read.
 */
@Injectable()
export class MetricsSnapshot implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly series = createSeries();
  private readonly instances = new InstanceSeries();
  /** Of each of INSTANCE_SERIES, from the last collection. */
  private lines: readonly (readonly string[])[] = [];
  /** The text before and after the age of the snapshot. */
  private rendered: readonly [Buffer, Buffer] | undefined;
  private takenAt = 0;
  private checks: readonly ContextCheck[] = [];
  private storages: readonly ContextStorage[] = [];
  private isChecking = false;
  private writing: Promise<void> | undefined;
  private isStale = false;
  private stop: (() => void) | undefined;

  constructor(
    private readonly fleet: FleetReader,
    private readonly folders: Folders,
    private readonly tasks: TaskReader,
    private readonly doctor: CheckBackends,
    private readonly backends: BackendDirectory,
    private readonly clock: Clock,
    private readonly readiness: Readiness,
    @Inject(SETTINGS) private readonly settings: Pick<Settings, 'metrics'>,
  ) {}

  /** Collects when every context was listed or lost, at an interval, and whenever a context is lost or comes back. */
  onApplicationBootstrap(): void {
    if (!this.settings.metrics) return;
    collectProcessMetrics(this.series);
    void this.fleet.whenSynced().then(() => this.refresh());
    const stopTimer = this.clock.every(REFRESH_INTERVAL_MS, () => void this.refresh());
    const unsubscribe = this.fleet.subscribe(({ type }) => {
      if (type === 'status') void this.refresh();
    });
    this.stop = () => {
      stopTimer();
      unsubscribe();
    };
  }

  beforeApplicationShutdown(): void {
    this.stop?.();
  }

  get contentType(): string {
    return this.series.registry.contentType;
  }

  /** The text, in pieces that every scrape until the next collection shares. */
  read(): readonly Buffer[] {
    if (!this.rendered) return [NOTHING_COLLECTED];
    const [before, after] = this.rendered;
    return [before, Buffer.from(String((this.clock.now() - this.takenAt) / 1000)), after];
  }

  async refresh(): Promise<void> {
    void this.refreshChecks();
    await this.write();
  }

  /** Checks ask the engines and may take long: the snapshot does not wait for them and has the last results. */
  private async refreshChecks(): Promise<void> {
    if (this.isChecking) return;
    this.isChecking = true;
    try {
      [this.checks, this.storages] = await Promise.all([this.doctor.run(), readStorageSpace(this.backends)]);
      await this.write();
    } finally {
      this.isChecking = false;
    }
  }

  /** One collection at a time; calls during one are served by one more after it. */
  private write(): Promise<void> {
    this.isStale = true;
    this.writing ??= (async () => {
      while (this.isStale) {
        this.isStale = false;
        await this.render();
      }
    })().finally(() => {
      this.writing = undefined;
    });
    return this.writing;
  }

  private async render(): Promise<void> {
    const startedAt = this.clock.now();
    try {
      await this.collect();
      this.series.collectionSuccess.set(1);
      this.takenAt = this.clock.now();
    } catch {
      this.series.collectionSuccess.set(0);
    }
    this.series.collectionAge.set(0);
    this.series.collectionDuration.set((this.clock.now() - startedAt) / 1000);
    // Encoded one by one, because encoding all of a large fleet at the same time would pause other requests.
    const [before, after]: [Buffer[], Buffer[]] = [[], []];
    let parts = before;
    for (const { name } of this.series.registry.getMetricsAsArray()) {
      const part = await this.series.registry.getSingleMetricAsString(name);
      const lines = this.lines[INSTANCE_SERIES.findIndex((one) => one === name)] ?? [];
      let text = `${[part, ...lines].join('\n')}\n\n`;
      if (name === AGE) {
        const value = text.lastIndexOf(AGE) + AGE.length + 1;
        before.push(Buffer.from(text.slice(0, value)));
        text = text.slice(text.indexOf('\n', value));
        parts = after;
      }
      parts.push(Buffer.from(text));
      if (lines.length > LINES_PER_PART) await turn();
    }
    this.rendered = [Buffer.concat(before), Buffer.concat(after)];
  }

  private async collect(): Promise<void> {
    const { backendUp, instances, poolInstances, poolRunning, tasks, check, storageFree, storageRequired } =
      this.series;
    for (const gauge of [backendUp, instances, poolInstances, poolRunning, tasks, check, storageFree, storageRequired])
      gauge.reset();
    for (const { context, kind, state } of this.fleet.states())
      backendUp.set({ context, backend: kind }, Number(state === 'up'));
    for (const pool of this.folders.tree.paths()) {
      poolInstances.set({ pool }, 0);
      poolRunning.set({ pool }, 0);
    }
    const entries = INSTANCE_KINDS.flatMap((kind) => [...this.fleet.all(kind)]);
    const lines: string[][] = INSTANCE_SERIES.map(() => []);
    const states = new Counts();
    const pools = new Counts();
    const running = new Counts();
    for (const [index, entry] of entries.entries()) {
      const { instance, folder } = entry;
      for (const [series, line] of this.instances.linesOf(entry).entries()) lines[series]?.push(line);
      states.add([instance.backend, instance.ref.context, stateOf(entry)]);
      if (folder !== undefined) pools.add([folder]);
      if (folder !== undefined && runs(entry)) running.add([folder]);
      if ((index + 1) % ENTRIES_PER_PART === 0) await turn();
    }
    this.lines = lines;
    for (const [[backend = '', context = '', state = ''], count] of states.all())
      instances.set({ backend, context, state }, count);
    for (const [[pool = ''], count] of pools.all()) poolInstances.set({ pool }, count);
    for (const [[pool = ''], count] of running.all()) poolRunning.set({ pool }, count);
    for (const { name, context, status } of [...this.checks, checkRegistryDisk(this.readiness)])
      check.set({ name, context, severity: status }, 1);
    for (const { kind, status, count } of this.tasks.counts()) tasks.set({ kind, status }, count);
    for (const { context, storage, freeBytes, requiredBytes } of this.storages) {
      storageFree.set({ context, storage }, freeBytes);
      storageRequired.set({ context, storage }, requiredBytes);
    }
    const { freeBytes, requiredBytes } = this.readiness.registryDisk;
    this.series.registryFree.set(freeBytes);
    this.series.registryRequired.set(requiredBytes);
  }
}

/** Counts combinations of labels: less work than counting in a gauge. */
class Counts {
  private readonly counts = new Map<string, { readonly labels: readonly string[]; count: number }>();

  add(labels: readonly string[]): void {
    const key = labels.join('\n');
    const known = this.counts.get(key);
    if (known) known.count++;
    else this.counts.set(key, { labels, count: 1 });
  }

  all(): (readonly [readonly string[], number])[] {
    return [...this.counts.values()].map(({ labels, count }) => [labels, count]);
  }
}

/** Lets other work run. */
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** The exposition while nothing is collected. */
export const NOTHING_COLLECTED =
  Buffer.from(`# HELP svc_collection_success Whether the last collection succeeded: 1 or 0.
# TYPE svc_collection_success gauge
svc_collection_success 0
`);
