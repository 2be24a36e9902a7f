import { mkdir } from 'node:fs/promises';
import type { Log } from '@headgate/domain-contracts';
import type { FrameContent } from './frames.js';
import { pruneSegments } from './prune-segments.js';
import type { RecordedEvent } from './recorded.js';
import { RecordedState, type FleetSnapshot } from './recorded-state.js';
import { replaySegment } from './replay-segment.js';
import type { ResumedContent, Row } from './replayed-fleet.js';
import { expectSpace, SegmentWriter } from './segment-writer.js';
import { listSegments, removeUnfinished, segmentAt, type Segment } from './segments.js';
import { Turns } from './turns.js';

export interface RecordingOptions {
  readonly folder: string;
  readonly days: number;
  readonly maxBytes: number;
  readonly minFreeBytes: number;
  readonly log: Log;
}

export interface TimedEvent {
  /** In milliseconds since the epoch. */
  readonly time: number;
  readonly event: RecordedEvent;
}

const DAY_MS = 86_400_000;
/** A list as of a moment reads the fleet and at most so many changes, or one for each entry of a larger fleet. */
const MIN_CHANGES = 5000;
const ROWS_PER_FRAME = 2000;
/** The share of all bytes that the changes of a segment have at most, so that little is dropped at once. */
const SEGMENT_SHARE = 32;

/**
 * Writes the changes of the fleet into segments. After an error, the recording must be opened again: it may not know
 * the content of the disk.
 */
export class Recording {
  private state = new RecordedState();
  private changes = 0;
  private last = 0;
  private rows: Row[] = [];
  private firstTime = 0;
  private writer: SegmentWriter | undefined;

  private constructor(private readonly options: RecordingOptions) {}

  /**
   * Reads the last recorded state, and removes a torn end.
   * @throws Error for a full disk, or another of the file system
   */
  static async open(options: RecordingOptions): Promise<Recording> {
    const recording = new Recording(options);
    await mkdir(options.folder, { recursive: true, mode: 0o700 });
    await removeUnfinished(options.folder);
    await expectSpace(options.folder, options.minFreeBytes);
    const segment = (await listSegments(options.folder)).at(-1);
    if (segment) await recording.readState(segment);
    return recording;
  }

  /** The last recorded time, in milliseconds since the epoch; 0 if there is none. */
  get lastTime(): number {
    return this.last;
  }

  /** Begins to record, or goes on after a gap. Records how the fleet differs from its last recorded state. */
  async resume(now: FleetSnapshot, time: number): Promise<void> {
    const since = this.last;
    const records = await this.state.applySnapshot(now);
    // The first segment, and one after the clock was set back, begins with this state.
    if (this.writer === undefined || time < since) return this.roll(time);
    const content: ResumedContent = { since, records };
    this.changes += records.length;
    await this.append({ kind: 'resumed', first: time, last: time, json: JSON.stringify(content) });
    await this.writer?.sync();
  }

  /** Writes changes in the order of their times. An earlier time than the last one begins another segment. */
  async write(events: readonly TimedEvent[]): Promise<void> {
    const turns = new Turns();
    for (const { time, event } of events) {
      if (time < this.last || this.isFull(time)) {
        await this.flush();
        await this.roll(time);
      }
      if (this.rows.length >= ROWS_PER_FRAME) await this.flush();
      if (this.rows.length === 0) this.firstTime = time;
      this.last = time;
      this.rows.push(...this.state.apply(event, time - this.firstTime));
      await turns.pass();
    }
    await this.flush();
    await this.writer?.sync();
  }

  /** Records that nothing else has changed until then. */
  async alive(time: number): Promise<void> {
    if (time === this.last) return;
    if (time < this.last || this.isFull(time)) return this.roll(time);
    await this.append({ kind: 'alive', first: time, last: time, json: '' });
    await this.writer?.sync();
  }

  /** @param time if nothing else has changed until then */
  async close(time?: number): Promise<void> {
    try {
      if (time !== undefined && time > this.last && this.writer) await this.alive(time);
    } finally {
      await this.writer?.close();
      this.writer = undefined;
    }
  }

  private async readState(segment: Segment): Promise<void> {
    const { log, minFreeBytes } = this.options;
    this.last = segment.start;
    const replay = await replaySegment(segment, {
      gap: () => true,
      until: () => true,
      wants: () => {
        this.changes++;
        return false;
      },
      change: () => true,
    });
    if (!replay) {
      log.warn({ file: segment.path }, 'a file of the history of the fleet is damaged');
      return;
    }
    const { bytes, fileBytes } = replay.read!;
    if (bytes < fileBytes)
      log.warn(
        { file: segment.path, bytes: fileBytes - bytes },
        'the damaged end of the history of the fleet was removed',
      );
    this.state = RecordedState.of(replay.fleet);
    this.last = replay.coveredUntil;
    this.writer = await SegmentWriter.reopen(segment, bytes, minFreeBytes);
  }

  private isFull(time: number): boolean {
    if (!this.writer) return true;
    const { segment, bytes, firstBytes } = this.writer;
    return (
      this.changes + this.rows.length >= Math.max(MIN_CHANGES, this.state.size) ||
      bytes - firstBytes >= this.options.maxBytes / SEGMENT_SHARE ||
      time - segment.start >= DAY_MS
    );
  }

  private async flush(): Promise<void> {
    const { rows } = this;
    if (rows.length === 0) return;
    this.rows = [];
    this.changes += rows.length;
    await this.append({ kind: 'records', first: this.firstTime, last: this.last, json: JSON.stringify(rows) });
  }

  private async append(frame: FrameContent): Promise<void> {
    await this.writer?.append(frame);
    this.last = frame.last;
  }

  /** Begins another segment with the whole fleet. */
  private async roll(time: number): Promise<void> {
    const { folder, minFreeBytes } = this.options;
    const before = this.writer;
    const last = (await listSegments(folder)).at(-1);
    const segment = segmentAt(folder, (last?.sequence ?? 0) + 1, time, time < this.last);
    const writer = await SegmentWriter.create(segment, this.state.beginning(time), minFreeBytes);
    try {
      // The segment before covers the time until this one begins.
      if (before && time >= this.last) await before.append({ kind: 'alive', first: time, last: time, json: '' });
      await before?.sync();
      await writer.publish();
    } catch (error) {
      await writer.close();
      throw error;
    }
    await before?.close();
    this.writer = writer;
    this.last = time;
    this.changes = 0;
    const { days, maxBytes } = this.options;
    // What the new segment may have before the next one begins.
    const reservedBytes = (2 * maxBytes) / SEGMENT_SHARE;
    await pruneSegments({ folder, days, maxBytes: maxBytes - reservedBytes, now: time });
  }
}
