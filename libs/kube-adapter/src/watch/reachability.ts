import { DomainError, messageOf, type Clock } from '@headgate/domain-contracts';
import { Backoff } from './backoff.js';

/** How a context's API server is, as far as can be told. */
export interface ReachabilityListener {
  /** Called once when it is lost. */
  lost(error: DomainError): void;
  /** Called when it answers for the first time, and again after it was lost. */
  up(): void;
}

/** Silence after which the server is asked whether it is still there. */
const SILENCE_MS = 2_500;
/** How long it may take to answer: with the silence before, a loss is noticed within 7.5 s. */
const PROBE_TIMEOUT_MS = 5_000;
/** While it is lost each attempt is given up sooner, so that its return is noticed within 4 s. */
const RETRY_TIMEOUT_MS = 2_500;
const RETRY_FIRST_MS = 200;
const RETRY_LIMIT_MS = 1_500;

/**
 * Knows whether the API server answers. Bytes on any watch count as an answer, so a busy cluster is never probed; an
 * idle one is probed, because a connection that was lost without a word looks just like an idle one.
 */
export class Reachability {
  private readonly backoff: Backoff;
  private cancel: () => void = () => undefined;
  private heardAt = 0;
  private probing = false;
  private stopped = true;
  private readonly waiting = new Set<() => void>();
  private readonly listeners = new Set<ReachabilityListener>();
  private current: 'unknown' | 'up' | 'lost' = 'unknown';
  private lastError: DomainError | undefined;

  /** @param probe asks the server for anything; fails when it is away or does not know the credentials */
  constructor(
    private readonly probe: (timeoutMs: number) => Promise<void>,
    private readonly clock: Clock,
    random?: () => number,
  ) {
    this.backoff = new Backoff(RETRY_FIRST_MS, RETRY_LIMIT_MS, random);
  }

  get state(): 'unknown' | 'up' | 'lost' {
    return this.current;
  }

  /** Begins to look as soon as somebody listens, and ends when nobody does. @returns what ends the listening */
  listen(listener: ReachabilityListener): () => void {
    this.listeners.add(listener);
    if (this.current === 'lost' && this.lastError) listener.lost(this.lastError);
    if (this.stopped) {
      this.stopped = false;
      void this.ask();
    }
    return () => {
      this.listeners.delete(listener);
      if (this.listeners.size === 0) this.stop();
    };
  }

  private stop(): void {
    this.stopped = true;
    this.current = 'unknown';
    this.cancel();
    this.release();
  }

  /** Something came from the server. */
  heard(): void {
    this.heardAt = this.clock.now();
  }

  /** Something failed that a lost server would explain: ask at once. */
  suspect(): void {
    if (this.stopped || this.probing || this.current === 'lost') return;
    this.cancel();
    void this.ask();
  }

  /** Resolves at once while the server is up or nobody looks, otherwise when it is up. */
  async whenUp(): Promise<void> {
    if (this.current === 'up' || this.stopped) return;
    await new Promise<void>((resolve) => this.waiting.add(resolve));
  }

  private async ask(): Promise<void> {
    this.probing = true;
    try {
      await this.probe(this.current === 'lost' ? RETRY_TIMEOUT_MS : PROBE_TIMEOUT_MS);
      this.probing = false;
      if (!this.stopped) this.found();
    } catch (error) {
      this.probing = false;
      if (!this.stopped) this.missed(error);
    }
  }

  private found(): void {
    this.heard();
    this.backoff.reset();
    this.later(SILENCE_MS);
    if (this.current === 'up') return;
    this.current = 'up';
    this.lastError = undefined;
    this.release();
    for (const listener of this.listeners) listener.up();
  }

  private missed(error: unknown): void {
    this.later(this.backoff.next());
    if (this.current === 'lost') return;
    this.current = 'lost';
    const lost =
      error instanceof DomainError ? error : new DomainError('BACKEND_UNREACHABLE', messageOf(error), { cause: error });
    this.lastError = lost;
    for (const listener of this.listeners) listener.lost(lost);
  }

  private later(ms: number): void {
    this.cancel();
    this.cancel = this.clock.after(ms, () => {
      const silence = this.clock.now() - this.heardAt;
      if (this.current === 'up' && silence < SILENCE_MS) this.later(SILENCE_MS - silence);
      else void this.ask();
    });
  }

  private release(): void {
    const waiting = [...this.waiting];
    this.waiting.clear();
    for (const resolve of waiting) resolve();
  }
}
