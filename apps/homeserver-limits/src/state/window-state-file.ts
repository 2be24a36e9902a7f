import { open, readFile, rename } from 'node:fs/promises';
import { join } from 'node:path';
import type { MemoryRateLimiter } from '@headgate/limits-core';
import type { OnApplicationShutdown, OnModuleInit } from '@nestjs/common';
import type { Logger } from 'pino';

/** A change is written after this many times the duration of the last write, within these bounds. */
const DELAY_FACTOR = 20;
const MIN_DELAY_MS = 100;
const MAX_DELAY_MS = 5_000;

const SWEEP_MS = 5_000;

/**
 * The windows on disk, so that a restart forgets nothing. They are written at shutdown, and soon after each change in
 * case the process is killed. Writing takes about 5 % of the time, more only where the table is so large that a change
 * would otherwise stay unwritten for more than five seconds. Without changes, nothing is written.
 */
export class WindowStateFile implements OnModuleInit, OnApplicationShutdown {
  private readonly path: string;
  private sweeper?: NodeJS.Timeout;
  private timer?: NodeJS.Timeout;
  private delayMs = MIN_DELAY_MS;
  private dirty = false;
  /** A write is in progress or scheduled. */
  private pending = false;
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

  async onModuleInit(): Promise<void> {
    await this.restore();
    this.start();
  }

  onApplicationShutdown(): Promise<void> {
    return this.stop();
  }

  /** Restores the last state. If it cannot be read, the windows start empty. */
  async restore(): Promise<void> {
    try {
      this.windows.restore(await readFile(this.path), this.now());
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return;
      this.log.warn({ err: error, path: this.path }, 'the rate windows of the last run could not be read');
    }
  }

  start(): void {
    this.sweeper = setInterval(() => this.windows.sweep(), SWEEP_MS);
    this.sweeper.unref();
  }

  /** Schedules a write of a change. */
  readonly scheduleWrite = (): void => {
    this.dirty = true;
    if (!this.pending && !this.stopped) this.saveLater();
  };

  /** Writes one last time. */
  async stop(): Promise<void> {
    this.stopped = true;
    clearInterval(this.sweeper);
    clearTimeout(this.timer);
    await this.save();
  }

  /** Saves one at a time: a call during a save starts another one after it. */
  save(): Promise<void> {
    this.saving = this.saving.catch(() => undefined).then(() => this.write());
    return this.saving;
  }

  private saveLater(): void {
    this.pending = true;
    this.timer = setTimeout(() => void this.saveChanges(), this.delayMs);
    this.timer.unref();
  }

  private async saveChanges(): Promise<void> {
    const startedAt = performance.now();
    this.dirty = false;
    try {
      await this.save();
      const durationMs = performance.now() - startedAt;
      this.delayMs = Math.min(Math.max(durationMs * DELAY_FACTOR, MIN_DELAY_MS), MAX_DELAY_MS);
    } catch (error) {
      this.log.error({ err: error }, 'the rate windows could not be written');
      this.dirty = true;
      this.delayMs = MAX_DELAY_MS;
    }
    this.pending = false;
    if (this.dirty) this.scheduleWrite();
  }

  private async write(): Promise<void> {
    const partial = `${this.path}.partial`;
    const file = await open(partial, 'w', 0o600);
    try {
      for (const chunk of this.windows.snapshot(this.now())) await file.write(chunk);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(partial, this.path);
  }
}
