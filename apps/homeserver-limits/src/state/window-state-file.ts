import { open, readFile, rename } from 'node:fs/promises';
import { join } from 'node:path';
import type { MemoryRateLimiter } from '@headgate/limits-core';
import type { Logger } from 'pino';

/** After a change, the time until it is written: that of the last writing this many times over, within these bounds. */
const REST_FACTOR = 20;
const SHORTEST_REST_MS = 100;
const LONGEST_REST_MS = 5_000;

const SWEEP_MS = 5_000;

/**
 * The windows' state on the disk, so that a restart in mid-window forgets nothing: written when the server ends, and soon
 * after each change for the case that it is killed. Writing takes about a twentieth of the time, more only where the windows
 * are so many that this would leave them unwritten for longer than five seconds. While nothing changes, nothing is written.
 */
export class WindowStateFile {
  private readonly path: string;
  private sweeper?: NodeJS.Timeout;
  private timer?: NodeJS.Timeout;
  private restMs = SHORTEST_REST_MS;
  private dirty = false;
  /** A writing is under way, or its time is set. */
  private busy = false;
  private stopped = false;
  private saving: Promise<void> = Promise.resolve();

  constructor(
    private readonly windows: MemoryRateLimiter,
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
    this.sweeper = setInterval(() => this.windows.sweep(), SWEEP_MS);
    this.sweeper.unref();
  }

  /** Something in the windows is not as it was: it is written soon. */
  readonly changed = (): void => {
    this.dirty = true;
    if (!this.busy && !this.stopped) this.saveLater();
  };

  /** Writes once more, and no longer after that. */
  async stop(): Promise<void> {
    this.stopped = true;
    clearInterval(this.sweeper);
    clearTimeout(this.timer);
    await this.save();
  }

  /** One save at a time; whoever asks meanwhile gets one of its own after it. */
  save(): Promise<void> {
    this.saving = this.saving.catch(() => undefined).then(() => this.write());
    return this.saving;
  }

  private saveLater(): void {
    this.busy = true;
    this.timer = setTimeout(() => void this.saveChanges(), this.restMs);
    this.timer.unref();
  }

  private async saveChanges(): Promise<void> {
    const began = performance.now();
    this.dirty = false;
    try {
      await this.save();
      const took = performance.now() - began;
      this.restMs = Math.min(Math.max(took * REST_FACTOR, SHORTEST_REST_MS), LONGEST_REST_MS);
    } catch (error) {
      this.log.error({ err: error }, 'the windows could not be written');
      this.dirty = true;
      this.restMs = LONGEST_REST_MS;
    }
    this.busy = false;
    if (this.dirty) this.changed();
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
