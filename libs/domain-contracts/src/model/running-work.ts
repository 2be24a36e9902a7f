import { DomainError } from '../values/domain-error.js';

interface Running {
  readonly cancel: AbortController;
  ended: Promise<unknown>;
}

/** Work of this process that is identified by an ID, and leaves nothing behind when the service stops. */
export class RunningWork {
  private readonly running = new Map<string, Running>();

  /**
   * Runs a piece of work until it has ended. It counts from the beginning, so that two at the same time see each other.
   * @param busy the error if work with this ID runs already
   * @throws DomainError `busy`, or the error of the work
   */
  async run<T>(
    id: string,
    { signal, busy }: { readonly signal: AbortSignal; readonly busy: () => DomainError },
    work: (signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    if (this.running.has(id)) throw busy();
    const cancel = new AbortController();
    const entry: Running = { cancel, ended: Promise.resolve() };
    this.running.set(id, entry);
    const working = work(AbortSignal.any([signal, cancel.signal]));
    entry.ended = working.catch(() => undefined).finally(() => this.running.delete(id));
    try {
      return await working;
    } finally {
      await entry.ended;
    }
  }

  async whenEnded(id: string): Promise<void> {
    await this.running.get(id)?.ended;
  }

  /** Ends all of it, and waits for that. */
  async close(): Promise<void> {
    const all = [...this.running.values()];
    for (const { cancel } of all) cancel.abort(new DomainError('SHUTTING_DOWN', 'The service is stopping.'));
    await Promise.all(all.map(({ ended }) => ended));
  }
}
