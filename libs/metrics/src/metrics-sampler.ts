import {
  DomainError,
  isRunningStatus,
  isVm,
  messageOf,
  SILENT_LOG,
  SingleReplica,
  UnavailableAbility,
  type Backend,
  type BackendDirectory,
  type Clock,
  type Instance,
  type InstanceDirectory,
  type Log,
  type Replicas,
  type ResourceReadings,
  type SampleExchange,
  type SampleRound,
} from '@headgate/domain-contracts';
import {
  MAX_LIVE_AGE_MS,
  SAMPLE_INTERVAL_MS,
  type NodeLoad,
  type Sample,
  type SampledInstance,
  type SampleRecorder,
} from './usage.js';
import { UsageStore } from './usage-store.js';

/** The first readings follow each other sooner, because rates need two of them. */
const WARM_UP_INTERVALS_MS: readonly number[] = [2000, 5000];
/** After this, a context counts as not answering. Its next reading waits until this one has ended. */
const READ_TIMEOUT_MS = 30_000;

export interface MetricsSamplerDeps {
  /** `require` may fail immediately for a context that is known to be lost. */
  readonly backends: BackendDirectory;
  readonly directory: Pick<InstanceDirectory, 'get'>;
  readonly clock: Clock;
  readonly log?: Log;
  /** By default, this process is the only one. */
  readonly replicas?: Pick<Replicas, 'isLeader' | 'subscribe'>;
  /** Gives the readings of the leader to the other replicas. */
  readonly exchange?: SampleExchange;
  /** Keeps the samples for longer than an hour. */
  readonly recorder?: SampleRecorder;
}

/**
 * Reads the resource usage of every context about every 15 seconds and keeps the samples of an hour in memory. Each
 * context has a rhythm of its own, so that a slow or lost one does not delay the others, and never more than one
 * reading at a time. Of several replicas, only the leader reads. The others record its readings, so that each of them
 * has the history.
 */
export class MetricsSampler {
  private readonly contexts = new Map<string, ContextSampler>();
  private readonly unsubscribers: (() => void)[] = [];
  private readonly listeners = new Set<(context: string) => void>();
  /** Whether this replica reads. */
  private isReading = false;

  constructor(private readonly deps: MetricsSamplerDeps) {}

  start(): void {
    const { backends, replicas = new SingleReplica(), exchange } = this.deps;
    for (const backend of backends.all()) this.attach(backend);
    // The last round of the former leader comes first.
    if (exchange)
      this.unsubscribers.push(exchange.subscribe((round) => this.contexts.get(round.context)?.receive(round)));
    this.unsubscribers.push(
      replicas.subscribe({
        elected: () => this.setReading(true),
        deposed: () => this.setReading(false),
      }),
    );
  }

  /** Samples a further context from now on. @param store with the samples that there are already */
  attach(backend: Backend, store = new UsageStore(this.deps.directory, this.deps.recorder)): void {
    const sampler = new ContextSampler(backend, store, this.deps, (context) => {
      for (const listener of this.listeners) listener(context);
    });
    this.contexts.set(backend.context, sampler);
    if (this.isReading) sampler.start();
  }

  /** Samples another backend in place of the one of its context, with the history of the former. */
  replace(backend: Backend): void {
    const former = this.contexts.get(backend.context);
    this.detach(backend.context);
    this.attach(backend, former?.store);
  }

  /** Ends the samples of a context. Its history in files stays. */
  detach(context: string): void {
    this.contexts.get(context)?.stop();
    this.contexts.delete(context);
  }

  stop(): void {
    for (const unsubscribe of this.unsubscribers) unsubscribe();
    this.setReading(false);
  }

  /** Calls back after each reading of a context, also one that failed, until the returned function is called. */
  subscribe(listener: (context: string) => void): () => void {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  }

  /**
   * The usage of an instance that runs. A stopped one uses nothing from then on, although its last sample is recent.
   */
  latest(instance: Instance): Sample | undefined {
    if (!isRunning(instance)) return undefined;
    return this.contexts.get(instance.ref.context)?.store.latest(instance, this.deps.clock.now());
  }

  history(instance: SampledInstance): Sample[] {
    return this.contexts.get(instance.ref.context)?.store.history(instance, this.deps.clock.now()) ?? [];
  }

  /** Gives the samples of an instance to the ref, and the object, that it has from now on. */
  carryOver(from: SampledInstance, to: SampledInstance): void {
    this.contexts.get(to.ref.context)?.store.adopt(to, this.history(from));
    this.deps.recorder?.carryOver(from, to);
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

  private setReading(isReading: boolean): void {
    this.isReading = isReading;
    for (const sampler of this.contexts.values())
      if (isReading) sampler.start();
      else sampler.stop();
  }
}

const isRunning = (instance: Instance): boolean =>
  isVm(instance) ? isRunningStatus(instance.status) : instance.phase === 'Running';

class ContextSampler {
  problem: DomainError | undefined;
  private isReading = false;
  /**
   * Counts the times that this replica began or ended to read; odd while it reads. A reading of an earlier term does
   * not count.
   */
  private term = 0;
  private isUnpublished = false;
  private receivedAt = 0;
  private cancelTick = (): void => undefined;
  private cancelTimeout = (): void => undefined;

  constructor(
    private readonly backend: Backend,
    readonly store: UsageStore,
    private readonly deps: MetricsSamplerDeps,
    private readonly onRound: (context: string) => void,
  ) {}

  private get isActive(): boolean {
    return this.term % 2 === 1;
  }

  start(): void {
    if (this.isActive) return;
    this.term++;
    // With the readings of the former leader, the first one here has rates already.
    const isRecent = Math.abs(this.deps.clock.now() - this.receivedAt) < MAX_LIVE_AGE_MS;
    this.tick(isRecent ? [] : [...WARM_UP_INTERVALS_MS]);
  }

  stop(): void {
    if (!this.isActive) return;
    this.term++;
    this.cancelTick();
    this.cancelTimeout();
  }

  /** Records what another replica has read. */
  receive({ time, readings, problem }: SampleRound): void {
    if (this.isActive) return;
    this.receivedAt = time;
    this.problem = problem && new DomainError(problem.code, problem.message);
    if (readings) this.store.record(time, readings);
    else this.store.prune(time);
    this.onRound(this.backend.context);
  }

  private tick([interval = SAMPLE_INTERVAL_MS, ...later]: readonly number[]): void {
    this.cancelTick = this.deps.clock.after(interval, () => this.tick(later));
    if (!this.isReading) void this.sample(this.term);
  }

  private async sample(term: number): Promise<void> {
    this.isReading = true;
    const { clock } = this.deps;
    const cancelTimeout = clock.after(READ_TIMEOUT_MS, () => this.fail(term, this.timeout()));
    this.cancelTimeout = cancelTimeout;
    try {
      const metrics = this.backend.ability('metrics');
      if (metrics instanceof UnavailableAbility)
        return this.fail(term, new DomainError('NOT_SUPPORTED', metrics.reason));
      const readings = await this.backend.require('metrics').read();
      if (term === this.term) this.succeed(readings);
    } catch (error) {
      this.fail(term, error instanceof DomainError ? error : new DomainError('BACKEND_FAILED', messageOf(error)));
    } finally {
      cancelTimeout();
      this.isReading = false;
    }
  }

  private succeed(readings: ResourceReadings): void {
    const time = this.deps.clock.now();
    this.store.record(time, readings);
    this.problem = undefined;
    this.publish({ context: this.backend.context, time, readings });
    this.onRound(this.backend.context);
  }

  private fail(term: number, problem: DomainError): void {
    if (term !== this.term) return;
    const { context } = this.backend;
    const { code, message } = problem;
    const time = this.deps.clock.now();
    this.store.prune(time);
    // A lost context is reported by its inventory.
    if (this.problem?.code !== code && !isAway(problem) && code !== 'NOT_SUPPORTED') {
      const fields = { context, code, err: message };
      (this.deps.log ?? SILENT_LOG).warn(fields, 'resource usage not read');
    }
    this.problem = problem;
    this.publish({ context, time, problem: { code, message } });
    this.onRound(context);
  }

  /** The others show no usage without it, but this replica does. */
  private publish(round: SampleRound): void {
    const { exchange, log = SILENT_LOG } = this.deps;
    exchange?.publish(round).then(
      () => void (this.isUnpublished = false),
      (error: unknown) => {
        if (!this.isUnpublished)
          log.warn({ context: round.context, reason: messageOf(error) }, 'resource usage not given to other replicas');
        this.isUnpublished = true;
      },
    );
  }

  private timeout(): DomainError {
    const message = `${this.backend.context} did not report its resource usage within ${READ_TIMEOUT_MS / 1000} s.`;
    return new DomainError('BACKEND_TIMEOUT', message);
  }
}

/** Whether the error means that the context does not answer. */
export const isAway = (error: DomainError): boolean => DomainError.is(error, 'BACKEND_UNREACHABLE', 'BACKEND_TIMEOUT');
