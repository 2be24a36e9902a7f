import { ApiError, type SandboxClock } from '@headgate/kube-sandbox';

const FIRST_RETRY_MS = 500;
const MAX_RETRY_MS = 60_000;
/** More keys are looked at in further callbacks of the same moment, between which the process can do other work. */
const MAX_KEYS_AT_ONCE = 500;

/**
 * Keys of objects to reconcile, each at most once. Nothing runs while the queue is empty: an idle cluster
 * costs nothing, whatever its size.
 */
export class WorkQueue {
  private readonly pending = new Set<string>();
  private readonly failures = new Map<string, number>();
  private scheduled = false;
  private stopped = false;

  constructor(
    private readonly clock: SandboxClock,
    private readonly work: (key: string) => void,
    private readonly onError: (error: unknown, key: string) => void,
  ) {}

  add(key: string): void {
    this.pending.add(key);
    if (this.scheduled || this.stopped) return;
    this.scheduled = true;
    this.clock.schedule(() => this.drain(), 0);
  }

  addAfter(key: string, delayMs: number): void {
    this.clock.schedule(() => this.add(key), delayMs);
  }

  stop(): void {
    this.stopped = true;
    this.pending.clear();
  }

  private drain(): void {
    this.scheduled = false;
    const keys = [...this.pending];
    this.pending.clear();
    this.runSome(keys, 0);
  }

  private runSome(keys: readonly string[], from: number): void {
    const end = from + MAX_KEYS_AT_ONCE;
    for (const key of keys.slice(from, end)) if (!this.stopped) this.run(key);
    if (end < keys.length && !this.stopped) this.clock.schedule(() => this.runSome(keys, end), 0);
  }

  private run(key: string): void {
    try {
      this.work(key);
      this.failures.delete(key);
    } catch (error) {
      const count = (this.failures.get(key) ?? 0) + 1;
      this.failures.set(key, count);
      // A refusal by the API (an existing name, a namespace that is being deleted) may pass. Any other error is ours
      // and is reported.
      if (!(error instanceof ApiError)) this.onError(error, key);
      this.addAfter(key, Math.min(FIRST_RETRY_MS * 2 ** count, MAX_RETRY_MS));
    }
  }
}
