import { DomainError, messageOf, SILENT_LOG, type Clock, type Log } from '@headgate/domain-contracts';
import { readChanges, readFleetAt } from './past-reader.js';
import type { ChangesPage, ChangesQuery, PastFleet, RecordedEvent, RecordedFleet } from './recorded.js';
import { snapshotOf } from './recorded-state.js';
import { Recording, type TimedEvent } from './recording.js';

const MIB = 1024 ** 2;
const MIN_FREE_BYTES = 64 * MIB;
/** The changes of this time are written together. A killed process loses at most these. */
const FLUSH_MS = 1000;
const ALIVE_MS = 60_000;
const RETRY_MS = 10_000;
/** Changes that wait for a slow disk, at most. */
const MAX_PENDING = 200_000;
/** The steps of a clock that is adjusted. A clock that is set back by more has other times from then on. */
const MAX_STEP_BACK_MS = 60_000;

export interface FleetHistoryDeps {
  /** Created with the first record. */
  readonly folder: string;
  readonly clock: Clock;
  readonly fleet: RecordedFleet;
  /** How long changes are kept; up to two days longer, because whole files are removed. */
  readonly days: number;
  /** How much the files have together at most. */
  readonly maxBytes: number;
  readonly log?: Log;
  /** By default 64 MiB. With less free space, the recording pauses. */
  readonly minFreeBytes?: number;
}

/** Whether changes are recorded, and if not, why and since when (in milliseconds since the epoch). */
export type HistoryStatus =
  | { readonly state: 'starting' | 'recording' | 'closed' }
  | { readonly state: 'paused'; readonly since: number; readonly reason: string };

/**
 * Records every change of the list, and reads the list as of any moment. No failure of the disk stops the service or a
 * change: the recording pauses, and the time until it goes on is a gap.
 */
export class FleetHistory {
  private readonly log: Log;
  private recording: Recording | undefined;
  private current: HistoryStatus = { state: 'starting' };
  private pending: TimedEvent[] = [];
  private last = 0;
  private cancelFlush: (() => void) | undefined;
  private cancelRetry: (() => void) | undefined;
  private cancelAlive: (() => void) | undefined;
  private queue: Promise<unknown> = Promise.resolve();

  constructor(private readonly deps: FleetHistoryDeps) {
    this.log = deps.log ?? SILENT_LOG;
  }

  get status(): HistoryStatus {
    return this.current;
  }

  /** Begins to record, when the fleet is known. */
  async start(): Promise<void> {
    if (this.current.state === 'closed') return;
    this.cancelAlive = this.deps.clock.every(ALIVE_MS, () => void this.enqueue(() => this.flush(true)));
    await this.enqueue(() => this.resume());
  }

  record(event: RecordedEvent): void {
    if (this.current.state !== 'recording') return;
    this.pending.push({ time: this.stamp(), event });
    if (this.pending.length > MAX_PENDING) return this.pause(new Error('The disk is too slow.'));
    this.cancelFlush ??= this.deps.clock.after(FLUSH_MS, () => {
      this.cancelFlush = undefined;
      void this.enqueue(() => this.flush());
    });
  }

  /**
   * The fleet as of a time, in milliseconds since the epoch.
   * @throws DomainError INVALID_INPUT for a time in the future, or before the first record
   */
  at(time: number): Promise<PastFleet> {
    const { clock, folder } = this.deps;
    const now = clock.now();
    if (time > now) {
      const message = `at: the time is in the future; use one until now, which is ${clock.iso()}.`;
      return Promise.reject(new DomainError('INVALID_INPUT', message));
    }
    // After a small step back of the clock, the newest changes have later times.
    const until = time === now ? Math.max(now, this.last) : time;
    return this.enqueue(async () => {
      await this.flush();
      return readFleetAt(folder, until, this.current.state === 'recording');
    });
  }

  /**
   * The changes in a time.
   * @throws DomainError INVALID_INPUT when all of it is before the first record
   */
  changes(query: ChangesQuery): Promise<ChangesPage> {
    return this.enqueue(async () => {
      await this.flush();
      return readChanges(this.deps.folder, query);
    });
  }

  /** Writes the changes in memory. Nothing is recorded afterwards. */
  async close(): Promise<void> {
    this.cancelAlive?.();
    await this.enqueue(async () => {
      await this.flush();
      this.cancelFlush?.();
      const time = this.current.state === 'recording' ? this.stamp() : undefined;
      this.current = { state: 'closed' };
      this.cancelRetry?.();
      await this.recording?.close(time).catch((error: unknown) => this.warn(error));
      this.recording = undefined;
    });
  }

  private async resume(): Promise<void> {
    const { folder, days, maxBytes, minFreeBytes = MIN_FREE_BYTES, fleet } = this.deps;
    const before = this.current;
    if (before.state === 'closed') return;
    try {
      this.recording = await Recording.open({ folder, days, maxBytes, minFreeBytes, log: this.log });
      this.last = Math.max(this.last, this.recording.lastTime);
      // From here on, changes are later than the snapshot.
      const time = this.stamp();
      const snapshot = snapshotOf(fleet);
      this.current = { state: 'recording' };
      await this.recording.resume(snapshot, time);
      if (before.state === 'paused') this.log.info({}, 'the history of the fleet is recorded again');
    } catch (error) {
      this.pause(error, before);
    }
  }

  /** @param isAlive also records that nothing else has changed */
  private async flush(isAlive = false): Promise<void> {
    if (this.current.state !== 'recording') return;
    const events = this.pending;
    this.pending = [];
    try {
      if (events.length > 0) await this.recording?.write(events);
      else if (isAlive) await this.recording?.alive(this.stamp());
    } catch (error) {
      this.pause(error);
    }
  }

  private pause(error: unknown, before = this.current): void {
    this.pending = [];
    // Only once, until the recording goes on.
    if (before.state !== 'paused') this.warn(error);
    const since = before.state === 'paused' ? before.since : this.deps.clock.now();
    this.current = { state: 'paused', since, reason: messageOf(error) };
    const { recording } = this;
    this.recording = undefined;
    void this.enqueue(async () => recording?.close());
    this.cancelRetry?.();
    this.cancelRetry = this.deps.clock.after(RETRY_MS, () => void this.enqueue(() => this.resume()));
  }

  private warn(error: unknown): void {
    this.log.warn({ reason: messageOf(error) }, 'the history of the fleet is not recorded');
  }

  /** Times never decrease, but for a clock that is set back by more than a step. */
  private stamp(): number {
    const now = this.deps.clock.now();
    if (now > this.last || this.last - now > MAX_STEP_BACK_MS) this.last = now;
    return this.last;
  }

  /** One after another, so that nothing is read while it is written. */
  private enqueue<T>(work: () => Promise<T>): Promise<T> {
    const done = this.queue.then(work);
    this.queue = done.catch(() => undefined);
    return done;
  }
}
