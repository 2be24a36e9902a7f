import { messageOf, type Clock, type Log } from '@headgate/domain-contracts';

export interface PolledValueDeps<T> {
  readonly read: () => Promise<T>;
  readonly clock: Clock;
  readonly log: Log;
  /** How often it is read in any case. */
  readonly intervalMs?: number;
  /** Calls back when the value may have changed. */
  readonly watch: (changed: () => void) => () => void;
}

/**
 * A value that has to be asked for, which it is once for all listeners, and only while there are any. A read that fails
 * leaves the last value.
 */
export class PolledValue<T extends object> {
  /** The last value, if it was ever read, and its JSON. */
  private last: { readonly value: T; readonly json: string } | undefined;
  private readonly listeners = new Set<(value: T) => void>();
  private stop = (): void => undefined;
  private isReading = false;
  private isDirty = false;

  constructor(private readonly deps: PolledValueDeps<T>) {}

  get value(): T | undefined {
    return this.last?.value;
  }

  /** Calls back with the last value, and each new one, until the returned function is called. */
  subscribe(listener: (value: T) => void): () => void {
    this.listeners.add(listener);
    if (this.last) listener(this.last.value);
    if (this.listeners.size === 1) this.start();
    return () => {
      if (this.listeners.delete(listener) && this.listeners.size === 0) this.stop();
    };
  }

  private start(): void {
    const { clock, intervalMs, watch } = this.deps;
    const refresh = (): void => void this.refresh();
    const stops = [watch(refresh), ...(intervalMs === undefined ? [] : [clock.every(intervalMs, refresh)])];
    this.stop = () => stops.forEach((stop) => stop());
    refresh();
  }

  /** One read at a time; a change during a read leads to another one. */
  private async refresh(): Promise<void> {
    this.isDirty = true;
    if (this.isReading) return;
    this.isReading = true;
    while (this.isDirty && this.listeners.size > 0) {
      this.isDirty = false;
      try {
        this.accept(await this.deps.read());
      } catch (error) {
        this.deps.log.info({ reason: messageOf(error) }, 'a topic of the event streams was not read');
      }
    }
    this.isReading = false;
  }

  private accept(value: T): void {
    const json = JSON.stringify(value);
    if (json === this.last?.json) return;
    this.last = { value, json };
    for (const listener of [...this.listeners]) listener(value);
  }
}
