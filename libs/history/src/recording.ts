import { mkdir } from 'node:fs/promises';
import { formatRef, type Log } from '@headgate/domain-contracts';
import { deltaOf, flatten, unflatten, type FlatEntry } from './flat-entry.js';
import type { FrameContent } from './frames.js';
import { pruneSegments } from './prune-segments.js';
import type { RecordedContext, RecordedEntry, RecordedEvent, RecordedFleet } from './recorded.js';
import { replaySegment } from './replay-segment.js';
import {
  DETACHED,
  REMOVED,
  type EntryNumber,
  type HeadContent,
  type ResumedContent,
  type Row,
} from './replayed-fleet.js';
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

interface Written {
  readonly number: EntryNumber;
  readonly entry: RecordedEntry;
}

const DAY_MS = 86_400_000;
/** A list as of a moment reads the fleet and at most so many changes, or one for each entry of a larger fleet. */
const MIN_CHANGES = 5000;
const ENTRIES_PER_FRAME = 500;
const ROWS_PER_FRAME = 2000;
/** The share of all bytes that the changes of a segment have at most, so that little is dropped at once. */
const SEGMENT_SHARE = 32;

/**
 * Writes the changes of the fleet into segments. After an error, the recording must be opened again: it may not know
 * the content of the disk.
 */
export class Recording {
  private written = new Map<string, Written>();
  private contexts = new Map<string, RecordedContext>();
  private nextNumber: EntryNumber = 0;
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
  async resume(live: { entries: readonly RecordedEntry[]; contexts: readonly RecordedContext[] }, time: number) {
    const since = this.last;
    const isNew = this.writer === undefined || time < since;
    this.firstTime = time;
    await this.compare(live, time);
    if (isNew) {
      // The first segment, or one after the clock was set back: it begins with the state that was just compared.
      this.rows = [];
      return this.roll(time);
    }
    const content: ResumedContent = { since, records: this.rows };
    this.changes += this.rows.length;
    this.rows = [];
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
      this.add(event, time);
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
    for (const [number, flat] of replay.fleet.entries()) {
      const entry = unflatten(flat);
      this.written.set(formatRef(entry.instance.ref), { number, entry });
    }
    this.nextNumber = replay.fleet.nextNumber;
    this.contexts = new Map(replay.fleet.contexts);
    this.last = replay.coveredUntil;
    this.writer = await SegmentWriter.reopen(segment, bytes, minFreeBytes);
  }

  private async compare(
    live: { entries: readonly RecordedEntry[]; contexts: readonly RecordedContext[] },
    time: number,
  ) {
    const turns = new Turns();
    const present = new Set<string>();
    for (const entry of live.entries) {
      present.add(formatRef(entry.instance.ref));
      this.add({ type: 'changed', entry }, time);
      await turns.pass();
    }
    const isUp = new Set(live.contexts.filter(({ state }) => state === 'up').map(({ context }) => context));
    for (const [key, { entry }] of [...this.written]) {
      if (present.has(key)) continue;
      // Instances of a context that was not reached may still exist.
      const isDetached = !isUp.has(entry.instance.ref.context);
      this.add({ type: 'removed', instance: entry.instance, ...(isDetached && { isDetached }) }, time);
      await turns.pass();
    }
    const states = new Map(live.contexts.map((state) => [state.context, state]));
    for (const state of this.contexts.values())
      if (!states.has(state.context)) states.set(state.context, { ...state, state: 'detached' });
    for (const state of states.values()) this.add({ type: 'status', state }, time);
  }

  /** Adds the rows of an event that changes the recorded state. */
  private add(event: RecordedEvent, time: number): void {
    const at = time - this.firstTime;
    if (event.type === 'status') return this.addContext(event.state, at);
    const { instance } = event.type === 'changed' ? event.entry : event;
    const key = formatRef(instance.ref);
    const known = this.written.get(key);
    if (event.type === 'removed') {
      if (known) this.remove(key, known, at, event.isDetached === true);
      return;
    }
    // Another instance under the same name.
    const isReplaced = known !== undefined && known.entry.instance.uid !== instance.uid;
    if (isReplaced) this.remove(key, known, at, false);
    const after = flatten(event.entry);
    if (known && !isReplaced) {
      const delta = deltaOf(flatten(known.entry), after);
      this.written.set(key, { number: known.number, entry: event.entry });
      if (!delta) return;
      const { set, unset } = delta;
      this.rows.push(unset.length === 0 ? [at, known.number, set] : [at, known.number, set, unset]);
    } else {
      this.written.set(key, { number: this.nextNumber++, entry: event.entry });
      this.rows.push([at, '+', { ...after }]);
    }
  }

  private remove(key: string, { number }: Written, at: number, isDetached: boolean): void {
    this.written.delete(key);
    this.rows.push([at, number, isDetached ? DETACHED : REMOVED]);
  }

  private addContext(state: RecordedContext, at: number): void {
    const known = this.contexts.get(state.context);
    if (known?.state === state.state && known.reason === state.reason) return;
    if (state.state === 'detached') this.contexts.delete(state.context);
    else this.contexts.set(state.context, state);
    this.rows.push([at, 'context', state]);
  }

  private isFull(time: number): boolean {
    if (!this.writer) return true;
    const { segment, bytes, firstBytes } = this.writer;
    return (
      this.changes + this.rows.length >= Math.max(MIN_CHANGES, this.written.size) ||
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
    const writer = await SegmentWriter.create(segment, this.beginning(time), minFreeBytes);
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

  /** The frames of the whole fleet, whose entries get new numbers. */
  private async *beginning(time: number): AsyncGenerator<FrameContent> {
    const known = [...this.written];
    const frame = { first: time, last: time };
    const head: HeadContent = { version: 1, contexts: [...this.contexts.values()], count: known.length };
    yield { ...frame, kind: 'head', json: JSON.stringify(head) };
    const turns = new Turns();
    for (let from = 0; from < known.length; from += ENTRIES_PER_FRAME) {
      const flat: FlatEntry[] = known.slice(from, from + ENTRIES_PER_FRAME).map(([, { entry }]) => flatten(entry));
      yield { ...frame, kind: 'entries', json: JSON.stringify(flat) };
      await turns.pass();
    }
    this.written = new Map(known.map(([key, { entry }], number) => [key, { number, entry }]));
    this.nextNumber = known.length;
  }
}

/** The fleet at this moment, which later changes leave as it is. */
export const snapshotOf = (fleet: RecordedFleet) => ({
  entries: [...fleet.entries()],
  contexts: [...fleet.contexts()],
});
