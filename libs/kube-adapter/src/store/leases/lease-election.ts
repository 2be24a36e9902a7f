import { DomainError, messageOf, SILENT_LOG, type Log } from '@headgate/domain-contracts';
import { LEASES } from '../../api/resources.js';
import type { ClusterStore } from '../cluster-store.js';
import { leaseSeconds, microTime, ObservedLease, type LeaseObject } from './lease-object.js';

/** The times of client-go's leader election. */
export interface LeaseTimes {
  /** After this time without a renewal, others take the lease. Whole seconds. */
  readonly durationMs: number;
  /** After this time without a renewal, the holder stops its work. Shorter than the duration. */
  readonly renewDeadlineMs: number;
  /** The pause between two attempts. */
  readonly retryMs: number;
}

export const DEFAULT_LEASE_TIMES: LeaseTimes = { durationMs: 15_000, renewDeadlineMs: 10_000, retryMs: 2_000 };

export interface LeaseElectionOptions {
  readonly store: ClusterStore;
  readonly name: string;
  readonly identity: string;
  readonly times?: LeaseTimes;
  readonly labels?: Readonly<Record<string, string>>;
  readonly log?: Log;
  /** The lease is held from now on. */
  onHeld(): void;
  /** The lease may be taken by others soon: the work must stop before the callback returns, or begin to. */
  onLost(): void;
}

/**
 * Acquires a Lease and renews it, as client-go's leader election does. At most one identity holds it at a time. A
 * process that was suspended has lost it when it continues, although its work learns that only later.
 */
export class LeaseElection {
  private readonly observed = new ObservedLease();
  private readonly times: LeaseTimes;
  private readonly log: Log;
  /** When the last successful renewal was sent. */
  private renewedAt = 0;
  private held = false;
  private isClosed = false;
  private cancelAttempt = (): void => undefined;
  private cancelDeadline = (): void => undefined;
  private attempting: Promise<void> = Promise.resolve();

  constructor(private readonly options: LeaseElectionOptions) {
    this.times = options.times ?? DEFAULT_LEASE_TIMES;
    this.log = options.log ?? SILENT_LOG;
  }

  /** By the clock, because the timer of the deadline fires late in a process that was suspended. */
  get isHeld(): boolean {
    return this.held && this.options.store.clock.now() < this.renewedAt + this.times.renewDeadlineMs;
  }

  start(): this {
    this.attempt();
    return this;
  }

  /** Releases the lease, so that others need not wait for its end. Call it after the work has stopped. */
  async close(): Promise<void> {
    this.isClosed = true;
    this.cancelAttempt();
    await this.attempting;
    this.cancelDeadline();
    if (!this.held) return;
    this.held = false;
    try {
      await this.release();
    } catch (error) {
      this.log.warn({ lease: this.options.name, reason: messageOf(error) }, 'a lease was not released');
    }
  }

  private attempt(): void {
    const { clock } = this.options.store;
    this.attempting = this.tryHold()
      .catch((error: unknown) =>
        this.log.warn({ lease: this.options.name, reason: messageOf(error) }, 'a lease was not renewed'),
      )
      .then(() => {
        if (!this.isClosed) this.cancelAttempt = clock.after(this.times.retryMs, () => this.attempt());
      });
  }

  private async tryHold(): Promise<void> {
    const { store, name, identity } = this.options;
    const { namespace, api, clock } = store;
    const sentAt = clock.now();
    const stored = await api.find<LeaseObject>(LEASES, { namespace, name }, { timeoutMs: this.times.renewDeadlineMs });
    if (this.isClosed) return;
    if (stored) this.observed.observe(stored, clock.now());
    const isOwn = stored?.spec?.holderIdentity === identity;
    if (stored && !isOwn && !this.observed.isFree(clock.now()))
      return this.lose(`${stored.spec?.holderIdentity} holds it`);
    const next = this.renewed(stored, isOwn, sentAt);
    try {
      const written = stored
        ? await api.replace<LeaseObject>(LEASES, next)
        : await api.create<LeaseObject>(LEASES, next);
      this.observed.observe(written, clock.now());
    } catch (error) {
      if (DomainError.is(error, 'CONFLICT', 'ALREADY_EXISTS')) return;
      throw error;
    }
    this.hold(sentAt);
  }

  private renewed(stored: LeaseObject | undefined, isOwn: boolean, nowMs: number): LeaseObject {
    const { store, name, identity, labels } = this.options;
    const { leaseTransitions = 0, acquireTime } = stored?.spec ?? {};
    return {
      metadata: stored?.metadata ?? { namespace: store.namespace, name, ...(labels ? { labels } : {}) },
      spec: {
        holderIdentity: identity,
        leaseDurationSeconds: leaseSeconds(this.times.durationMs),
        acquireTime: isOwn && acquireTime !== undefined ? acquireTime : microTime(nowMs),
        renewTime: microTime(nowMs),
        leaseTransitions: stored && !isOwn ? leaseTransitions + 1 : leaseTransitions,
      },
    };
  }

  private hold(sentAt: number): void {
    const { clock } = this.options.store;
    const leftMs = sentAt + this.times.renewDeadlineMs - clock.now();
    // A response that took this long may have come after another replica has taken the lease.
    if (leftMs <= 0) return this.lose('the response was too late');
    this.renewedAt = sentAt;
    this.cancelDeadline();
    this.cancelDeadline = clock.after(leftMs, () => this.lose('it could not be renewed in time'));
    if (this.held || this.isClosed) return;
    this.held = true;
    this.log.info({ lease: this.options.name, identity: this.options.identity }, 'a lease is held');
    this.options.onHeld();
  }

  private lose(reason: string): void {
    this.cancelDeadline();
    if (!this.held) return;
    this.held = false;
    const { name, identity } = this.options;
    const sinceMs = this.options.store.clock.now() - this.renewedAt;
    this.log.warn({ lease: name, identity, reason, sinceMs }, 'a lease was lost');
    this.options.onLost();
  }

  private async release(): Promise<void> {
    const { store, name, identity } = this.options;
    const { namespace, api, clock } = store;
    const stored = await api.find<LeaseObject>(LEASES, { namespace, name });
    if (stored?.spec?.holderIdentity !== identity) return;
    const spec = { ...stored.spec, holderIdentity: '', leaseDurationSeconds: 1, renewTime: microTime(clock.now()) };
    await api.replace<LeaseObject>(LEASES, { ...stored, spec });
  }
}
