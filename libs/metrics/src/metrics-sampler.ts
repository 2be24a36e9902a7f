import {
  DomainError,
  isRunningStatus,
  isVm,
  messageOf,
  SILENT_LOG,
  UnavailableAbility,
  type Backend,
  type BackendDirectory,
  type Clock,
  type Instance,
  type InstanceDirectory,
  type InstanceRef,
  type Log,
} from '@headgate/domain-contracts';
import { SAMPLE_INTERVAL_MS, type NodeLoad, type Sample } from './usage.js';
import { UsageStore } from './usage-store.js';

/** The first readings follow each other sooner, because rates need two of them. */
const WARM_UP_INTERVALS_MS: readonly number[] = [2000, 5000];
/** After this, a context counts as not answering. Its next reading waits until this one has ended. */
const READ_TIMEOUT_MS = 30_000;

export interface MetricsSamplerDeps {
  /** `require` may fail at once for a context that is known to be lost. */
  readonly backends: BackendDirectory;
  readonly directory: Pick<InstanceDirectory, 'get'>;
  readonly clock: Clock;
  readonly log?: Log;
}

/** One object of the directory: another one of the same name has no samples yet. */
export interface SampledInstance {
  readonly ref: InstanceRef;
  readonly uid: string;
}

/**
 * Reads the resource usage of every context about every 15 seconds and keeps the samples of an hour in memory. Each
 * context has a rhythm of its own, so that a slow or lost one does not delay the others, and never more than one reading
 * at a time.
 */
export class MetricsSampler {
  private readonly contexts = new Map<string, ContextSampler>();

  constructor(private readonly deps: MetricsSamplerDeps) {}

  start(): void {
    for (const backend of this.deps.backends.all()) {
      const sampler = new ContextSampler(backend, this.deps);
      this.contexts.set(backend.context, sampler);
      sampler.start();
    }
  }

  stop(): void {
    for (const sampler of this.contexts.values()) sampler.stop();
  }

  /** The usage of an instance that runs. A stopped one uses nothing from then on, although its last sample is recent. */
  latest(instance: Instance): Sample | undefined {
    if (!isRunning(instance)) return undefined;
    return this.contexts.get(instance.ref.context)?.store.latest(instance, this.deps.clock.now());
  }

  history(instance: SampledInstance): Sample[] {
    return this.contexts.get(instance.ref.context)?.store.history(instance, this.deps.clock.now()) ?? [];
  }

  nodeLoad(context: string, node: string): NodeLoad | undefined {
    return this.contexts.get(context)?.store.nodeLoad(node, this.deps.clock.now());
  }

  /** Why the last reading of a context failed. */
  problem(context: string): DomainError | undefined {
    return this.contexts.get(context)?.problem;
  }

  /** How many instances have samples, and the bytes that these take. */
  usage(): { readonly instances: number; readonly bytes: number } {
    let instances = 0;
    let bytes = 0;
    for (const { store } of this.contexts.values()) {
      instances += store.size;
      bytes += store.byteLength;
    }
    return { instances, bytes };
  }
}

const isRunning = (instance: Instance): boolean =>
  isVm(instance) ? isRunningStatus(instance.status) : instance.phase === 'Running';

class ContextSampler {
  readonly store: UsageStore;
  problem: DomainError | undefined;
  private isReading = false;
  private isStopped = false;
  private cancelTick = (): void => undefined;
  private cancelTimeout = (): void => undefined;

  constructor(
    private readonly backend: Backend,
    private readonly deps: MetricsSamplerDeps,
  ) {
    this.store = new UsageStore(deps.directory);
  }

  start(): void {
    this.tick([...WARM_UP_INTERVALS_MS]);
  }

  stop(): void {
    this.isStopped = true;
    this.cancelTick();
    this.cancelTimeout();
  }

  private tick([interval = SAMPLE_INTERVAL_MS, ...later]: readonly number[]): void {
    this.cancelTick = this.deps.clock.after(interval, () => this.tick(later));
    if (!this.isReading) void this.sample();
  }

  private async sample(): Promise<void> {
    this.isReading = true;
    const { clock } = this.deps;
    this.cancelTimeout = clock.after(READ_TIMEOUT_MS, () => this.fail(this.timeout()));
    try {
      const metrics = this.backend.ability('metrics');
      if (metrics instanceof UnavailableAbility) return this.fail(new DomainError('NOT_SUPPORTED', metrics.reason));
      const readings = await this.backend.require('metrics').read();
      if (this.isStopped) return;
      this.store.record(clock.now(), readings);
      this.problem = undefined;
    } catch (error) {
      this.fail(error instanceof DomainError ? error : new DomainError('BACKEND_FAILED', messageOf(error)));
    } finally {
      this.cancelTimeout();
      this.isReading = false;
    }
  }

  private fail(problem: DomainError): void {
    if (this.isStopped) return;
    this.store.prune(this.deps.clock.now());
    // A lost context is reported by its inventory.
    if (this.problem?.code !== problem.code && !isAway(problem) && problem.code !== 'NOT_SUPPORTED') {
      const fields = { context: this.backend.context, code: problem.code, err: problem.message };
      (this.deps.log ?? SILENT_LOG).warn(fields, 'resource usage not read');
    }
    this.problem = problem;
  }

  private timeout(): DomainError {
    const message = `${this.backend.context} did not report its resource usage within ${READ_TIMEOUT_MS / 1000} s.`;
    return new DomainError('BACKEND_TIMEOUT', message);
  }
}

/** Whether the error means that the context does not answer. */
export const isAway = (error: DomainError): boolean => DomainError.is(error, 'BACKEND_UNREACHABLE', 'BACKEND_TIMEOUT');
