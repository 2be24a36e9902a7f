import { contentOf, frameAt, type Frame } from './frames.js';
import type { FlatEntry } from './flat-entry.js';
import { ReplayedFleet, type FlatChange, type HeadContent, type ResumedContent, type Row } from './replayed-fleet.js';
import { readSegment, type Segment } from './segments.js';
import { Turns } from './turns.js';

/** The clock is read after so many. */
const ROWS_PER_TURN = 100;

export interface ReplayVisitor {
  /** A gap that ended at `time`. @returns false to end before its changes */
  gap(since: number, time: number): boolean;
  /** Before frames and changes of that time. @returns false to end before them */
  until(time: number): boolean;
  /** Whether a change of this entry is wanted. Called once for each change of any entry. */
  wants(entry: FlatEntry, time: number): boolean;
  /** A wanted change. @returns false to end after it */
  change(change: FlatChange, time: number, isFromGap: boolean): boolean;
}

/** A segment that was read, until its end or until the visitor ended it. */
export interface Replay {
  readonly fleet: ReplayedFleet;
  /** The last time that the read frames cover, in milliseconds since the epoch. */
  readonly coveredUntil: number;
  /** The bytes of the complete frames, and those of the file, if it was read to its end. */
  readonly read?: { readonly bytes: number; readonly fileBytes: number };
}

/** @returns undefined if the segment does not have the whole fleet of its beginning: it is damaged, or was removed */
export async function replaySegment(segment: Segment, visitor: ReplayVisitor): Promise<Replay | undefined> {
  const file = await readSegment(segment);
  const fleet = new ReplayedFleet();
  const turns = new Turns();
  const beginning = await readBeginning(file, fleet, turns);
  if (beginning === undefined) return undefined;
  let coveredUntil = segment.start;
  let at = beginning;
  for (let frame = frameAt(file, at); frame; frame = frameAt(file, at)) {
    // The frame after a gap says since when there is one, also of a moment in it.
    if (frame.kind !== 'resumed' && !visitor.until(frame.first)) return { fleet, coveredUntil };
    if (frame.kind !== 'alive' && !(await replayFrame(frame, fleet, visitor, turns)))
      return { fleet, coveredUntil: frame.first };
    coveredUntil = Math.max(coveredUntil, frame.last);
    at = frame.end;
    await turns.pass();
  }
  return { fleet, coveredUntil, read: { bytes: at, fileBytes: file.length } };
}

/** @returns where the changes begin */
async function readBeginning(file: Buffer, fleet: ReplayedFleet, turns: Turns): Promise<number | undefined> {
  const head = frameAt(file, 0);
  if (head?.kind !== 'head') return undefined;
  const { contexts, count } = contentOf(head) as HeadContent;
  for (const state of contexts) fleet.setContext(state);
  let at = head.end;
  while (fleet.nextNumber < count) {
    const frame = frameAt(file, at);
    if (frame?.kind !== 'entries') return undefined;
    for (const entry of contentOf(frame) as Record<string, unknown>[]) fleet.add(entry);
    at = frame.end;
    await turns.pass();
  }
  return at;
}

/** @returns whether the visitor goes on */
async function replayFrame(frame: Frame, fleet: ReplayedFleet, visitor: ReplayVisitor, turns: Turns): Promise<boolean> {
  const isResumed = frame.kind === 'resumed';
  let count = 0;
  let time = frame.first;
  const isWanted = (entry: FlatEntry): boolean => visitor.wants(entry, time);
  const content = contentOf(frame);
  if (isResumed && !visitor.gap((content as ResumedContent).since, frame.first)) return false;
  if (!visitor.until(frame.first)) return false;
  for (const row of isResumed ? (content as ResumedContent).records : (content as Row[])) {
    time = frame.first + row[0];
    if (!visitor.until(time)) return false;
    const change = fleet.apply(row, isWanted);
    if (change && !visitor.change(change, time, isResumed)) return false;
    if (++count % ROWS_PER_TURN === 0) await turns.pass();
  }
  return true;
}
