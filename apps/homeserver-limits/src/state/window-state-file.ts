import { open, readFile, rename } from 'node:fs/promises';
import { join } from 'node:path';
import type { RateWindows } from '@headgate/limits-core';
import type { Logger } from 'pino';

const PERIOD_MS = 5_000;

/**
 * The windows' state on the disk, so that a restart in mid-window forgets nothing: written when the server ends, and every
 * few seconds for the case that it is killed.
 */
export class WindowStateFile {
  private readonly path: string;
  private timer?: NodeJS.Timeout;
  private saving: Promise<void> = Promise.resolve();

  constructor(
    private readonly windows: RateWindows,
    dataDir: string,
    private readonly log: Logger,
    private readonly now: () => number = Date.now,
  ) {
    this.path = join(dataDir, 'windows.state');
  }

  /** Takes the last state over. A state that cannot be read is left aside, and the windows start empty. */
  async restore(): Promise<void> {
    try {
      this.windows.restore(await readFile(this.path), this.now());
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return;
      this.log.warn({ err: error, path: this.path }, 'the windows of the last run could not be read');
    }
  }

  start(): void {
    this.timer = setInterval(() => {
      this.windows.sweep();
      void this.save().catch((error: unknown) => this.log.error({ err: error }, 'the windows could not be written'));
    }, PERIOD_MS);
    this.timer.unref();
  }

  async stop(): Promise<void> {
    clearInterval(this.timer);
    await this.save();
  }

  /** One save at a time; whoever asks meanwhile gets one of its own after it. */
  save(): Promise<void> {
    this.saving = this.saving.catch(() => undefined).then(() => this.write());
    return this.saving;
  }

  private async write(): Promise<void> {
    const partial = `${this.path}.partial`;
    const file = await open(partial, 'w', 0o600);
    try {
      for (const piece of this.windows.snapshot(this.now())) await file.write(piece);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(partial, this.path);
  }
}
