import { messageOf, type Clock } from '@headgate/domain-contracts';
import type { LiveJournal } from './live-journal.js';
import type { RunningTask } from './running-task.js';

/** How long a task waits before it tries again to write its journal. */
const RETRY_MS = 5_000;

/**
 * The journal of a running task. Nothing continues before it is written: a step that is not in the journal could be run
 * twice.
 */
export class JournalWriter<Input extends object = object> {
  /** Changes run one after the other: each begins with the result of the one before. */
  private last: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly task: RunningTask,
    private journal: LiveJournal<Input>,
    private readonly clock: Clock,
  ) {}

  get current(): LiveJournal<Input> {
    return this.journal;
  }

  /** @throws when the store can't be written; the journal is as before then */
  write(change: (journal: LiveJournal<Input>) => LiveJournal<Input>): Promise<void> {
    const done = this.last.then(async () => {
      const next = change(this.journal);
      await this.task.save(next);
      this.journal = next;
    });
    this.last = done.catch(() => undefined);
    return done;
  }

  async tryWrite(change: (journal: LiveJournal<Input>) => LiveJournal<Input>): Promise<boolean> {
    try {
      await this.write(change);
      return true;
    } catch (error) {
      this.task.warn(error);
      return false;
    }
  }

  /** Waits until the store can be written, such as when a disk is full. @throws ServiceShutdown */
  async commit(change: (journal: LiveJournal<Input>) => LiveJournal<Input>): Promise<void> {
    for (let isWaiting = false; ; isWaiting = true) {
      try {
        await this.write(change);
        if (isWaiting) this.task.update({ waiting: undefined });
        return;
      } catch (error) {
        this.task.shutdownSignal.throwIfAborted();
        if (!isWaiting) this.task.warn(error);
        this.task.update({ waiting: `Its journal can't be written: ${messageOf(error)}` });
        await this.retryOrShutdown();
      }
    }
  }

  private async retryOrShutdown(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const { shutdownSignal } = this.task;
    const cancel = this.clock.after(RETRY_MS, resolve);
    const onShutdown = (): void => resolve();
    shutdownSignal.addEventListener('abort', onShutdown);
    await promise;
    cancel();
    shutdownSignal.removeEventListener('abort', onShutdown);
    shutdownSignal.throwIfAborted();
  }
}
