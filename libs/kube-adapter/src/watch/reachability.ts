import { DomainError, messageOf, type Clock } from '@headgate/domain-contracts';
import { Backoff } from './backoff.js';

/** Receives changes of the reachability of an API server. */
export interface ReachabilityListener {
  /** Called once for each loss. */
  lost(error: DomainError): void;
  /** Called when the server answers for the first time, and again after each loss. */
  up(): void;
}

/** Silence after which the server is probed. */
const SILENCE_MS = 2_500;
/** Timeout of a probe: together with the silence before it, a loss is noticed within 7.5 s. */
const PROBE_TIMEOUT_MS = 5_000;
/** Shorter timeout while the server is lost, so that its return is noticed within 4 s. */
const RETRY_TIMEOUT_MS = 2_500;
const RETRY_FIRST_MS = 200;
const RETRY_LIMIT_MS = 1_500;

/**
 * Knows whether the API server answers. Bytes on any watch count as an answer, so a busy cluster is never probed. An
 * idle one is probed, because a connection that was dropped silently is indistinguishable from an idle one.
 */
export class Reachability {
  private readonly backoff: Backoff;
  private cancelTimer: () => void = () => undefined;
  private lastActivityAt = 0;
  /** The last probe, which never rejects. */
  private probing: Promise<void> | undefined;
  /** Aborted when there is no listener anymore. */
  private stopping = stoppedController();
  private readonly waiting = new Set<() => void>();
  private readonly listeners = new Set<ReachabilityListener>();
  private current: 'unknown' | 'up' | 'lost' = 'unknown';
  private lastError: DomainError | undefined;
  private loss = new AbortController();

  /**
   * @param probe sends any request; fails when the server is unreachable or rejects the credentials, and when it is
   *   aborted
   */
  constructor(
    private readonly probe: (timeoutMs: number, signal: AbortSignal) => Promise<void>,
    private readonly clock: Clock,
    random?: () => number,
  ) {
    this.backoff = new Backoff(RETRY_FIRST_MS, RETRY_LIMIT_MS, random);
  }

  get state(): 'unknown' | 'up' | 'lost' {
    return this.current;
  }

  /** Aborted with the error of the next loss. */
  get signal(): AbortSignal {
    return this.loss.signal;
  }

  /** Probes while there is at least one listener. @returns a function that removes the listener */
  listen(listener: ReachabilityListener): () => void {
    this.listeners.add(listener);
    if (this.current === 'lost' && this.lastError) listener.lost(this.lastError);
    if (this.stopped) {
      this.stopping = new AbortController();
      this.probeServer();
    }
    return () => {
      this.listeners.delete(listener);
      if (this.listeners.size === 0) this.stop();
    };
  }

  /** Resolves when no probe is under way. */
  async idle(): Promise<void> {
    await this.probing;
  }

  private get stopped(): boolean {
    return this.stopping.signal.aborted;
  }

  private stop(): void {
    this.stopping.abort();
    this.current = 'unknown';
    this.cancelTimer();
    this.resolveWaiting();
  }

  /** Records that data arrived from the server. */
  recordActivity(): void {
    this.lastActivityAt = this.clock.now();
  }

  /** Probes immediately, after a failure that a lost server would explain. */
  probeNow(): void {
    if (this.stopped || this.probing || this.current === 'lost') return;
    this.cancelTimer();
    this.probeServer();
  }

  /** Resolves when the server is up, or immediately while there is no listener. */
  async whenUp(): Promise<void> {
    if (this.current === 'up' || this.stopped) return;
    await new Promise<void>((resolve) => this.waiting.add(resolve));
  }

  private probeServer(): void {
    const { signal } = this.stopping;
    const probing: Promise<void> = this.probe(
      this.current === 'lost' ? RETRY_TIMEOUT_MS : PROBE_TIMEOUT_MS,
      signal,
    ).then(
      () => this.endProbe(probing, signal, () => this.onAnswer()),
      (error: unknown) => this.endProbe(probing, signal, () => this.onFailure(error)),
    );
    this.probing = probing;
  }

  private endProbe(probing: Promise<void>, signal: AbortSignal, report: () => void): void {
    if (this.probing === probing) this.probing = undefined;
    if (!signal.aborted) report();
  }

  private onAnswer(): void {
    this.recordActivity();
    this.backoff.reset();
    this.scheduleProbe(SILENCE_MS);
    if (this.current === 'up') return;
    this.current = 'up';
    this.lastError = undefined;
    this.resolveWaiting();
    for (const listener of this.listeners) listener.up();
  }

  private onFailure(error: unknown): void {
    this.scheduleProbe(this.backoff.next());
    // A probe that timed out means the same as a refused connection.
    const lost =
      error instanceof DomainError && error.code !== 'BACKEND_TIMEOUT'
        ? error
        : new DomainError('BACKEND_UNREACHABLE', messageOf(error), { cause: error });
    this.lastError = lost;
    if (this.current === 'lost') return;
    this.current = 'lost';
    const { loss } = this;
    this.loss = new AbortController();
    loss.abort(lost);
    for (const listener of this.listeners) listener.lost(lost);
  }

  private scheduleProbe(delayMs: number): void {
    this.cancelTimer();
    this.cancelTimer = this.clock.after(delayMs, () => {
      const silenceMs = this.clock.now() - this.lastActivityAt;
      if (this.current === 'up' && silenceMs < SILENCE_MS) this.scheduleProbe(SILENCE_MS - silenceMs);
      else this.probeServer();
    });
  }

  private resolveWaiting(): void {
    const waiting = [...this.waiting];
    this.waiting.clear();
    for (const resolve of waiting) resolve();
  }
}

function stoppedController(): AbortController {
  const controller = new AbortController();
  controller.abort();
  return controller;
}
