import type { Clock, Replicas } from '@headgate/domain-contracts';
import type { WatchedObjects } from './watched-objects.js';

/**
 * How often all objects are read again, besides the watch, and after how long without that none is current: no right
 * that was taken away is used for longer.
 */
const REFRESH_INTERVAL_MS = 5_000;
const MAX_AGE_MS = 15_000;

export interface KeptFreshOptions {
  readonly clock: Clock;
  readonly replicas: Replicas;
  /** Called when the objects are not current any more. */
  readonly onLost: () => void;
}

/** Whether the objects of one kind are current. They are not while this replica does not reach the store. */
export class KeptFresh<Spec extends object> {
  /** Whether this replica has lost the store, so that it would not see a change. */
  private isCutOff = false;
  /** When the last complete list was requested. */
  private refreshedAt = 0;
  private refreshing: Promise<void> | undefined;
  private stopRefreshing = (): void => undefined;
  private readonly closing = new AbortController();

  constructor(
    private readonly objects: WatchedObjects<Spec>,
    private readonly options: KeptFreshOptions,
  ) {
    options.replicas.subscribe({
      joined: () => void (this.isCutOff = false),
      left: () => {
        this.isCutOff = true;
        options.onLost();
      },
    });
  }

  get isCurrent(): boolean {
    return !this.isCutOff && !this.isOutdated;
  }

  /** @throws DomainError NOT_READY when the objects can't be used; they are left as they are */
  async open(): Promise<void> {
    const { clock } = this.options;
    const startedAt = clock.now();
    await this.objects.open();
    this.refreshedAt = startedAt;
    this.stopRefreshing = clock.every(REFRESH_INTERVAL_MS, () => this.refresh());
  }

  /** Resolves when the last request has ended. */
  async close(): Promise<void> {
    this.stopRefreshing();
    this.closing.abort();
    await this.refreshing;
    await this.objects.close();
  }

  private get isOutdated(): boolean {
    return this.options.clock.now() - this.refreshedAt > MAX_AGE_MS;
  }

  private refresh(): void {
    if (this.isOutdated) this.options.onLost();
    this.refreshing ??= this.readAgain().finally(() => (this.refreshing = undefined));
  }

  private async readAgain(): Promise<void> {
    const { clock } = this.options;
    const startedAt = clock.now();
    const timeout = new AbortController();
    const cancelTimeout = clock.after(REFRESH_INTERVAL_MS, () => timeout.abort());
    try {
      await this.objects.refresh(AbortSignal.any([timeout.signal, this.closing.signal]));
      this.refreshedAt = startedAt;
    } catch {
      // The watch and the Leases of this replica log that the API server does not answer.
    } finally {
      cancelTimeout();
    }
  }
}
