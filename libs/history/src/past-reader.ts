import { DomainError, formatRef, parseRef, type InstanceRef } from '@headgate/domain-contracts';
import { unflatten, type FlatEntry } from './flat-entry.js';
import type { ChangesPage, ChangesQuery, Gap, PastChange, PastFleet } from './recorded.js';
import { replaySegment, type Replay } from './replay-segment.js';
import type { FlatChange } from './replayed-fleet.js';
import { listSegments, type Segment } from './segments.js';

/** A page ends after so many changes, whether they match or not, so that no request reads for long. */
const MAX_SCANNED = 50_000;

/**
 * The fleet as of a time.
 * @param isRecording whether the newest segment covers the time until now
 * @throws DomainError INVALID_INPUT for a time before the first record
 */
export async function readFleetAt(folder: string, time: number, isRecording: boolean): Promise<PastFleet> {
  const segments = await listSegments(folder);
  // After the clock was set back, the newest segment that has begun is the one.
  const newest = segments.findLastIndex(({ start }) => start <= time);
  for (let index = newest; index >= 0; index--) {
    let gap: Gap | undefined;
    const replay = await replaySegment(segments[index]!, {
      gap: (since, end) => {
        if (since < time && time < end) gap = { from: since, to: end };
        return gap === undefined;
      },
      until: (one) => one <= time,
      wants: () => false,
      change: () => true,
    });
    // A damaged file leaves the last state of the one before it.
    if (!replay) continue;
    gap ??= gapAfter(replay, segments[index + 1]?.start, time, isRecording);
    if (index < newest) gap = { from: replay.coveredUntil, ...endOf(segments[newest + 1]) };
    return {
      entries: Array.from(replay.fleet.entries(), ([, flat]) => unflatten(flat)),
      contexts: [...replay.fleet.contexts.values()],
      ...(gap && { gap }),
    };
  }
  throw tooEarly('at', newest === -1 ? segments[0] : undefined);
}

function tooEarly(field: 'at' | 'to', first: Segment | undefined): DomainError {
  const has = first ? `begins at ${new Date(first.start).toISOString()}` : 'has no records of that time';
  return new DomainError('INVALID_INPUT', `${field}: the history of the fleet ${has}; use a later time.`);
}

const endOf = (next: Segment | undefined): Pick<Gap, 'to'> => (next ? { to: next.start } : {});

function gapAfter(
  { read, coveredUntil }: Replay,
  nextStart: number | undefined,
  time: number,
  isRecording: boolean,
): Gap | undefined {
  if (!read || time <= coveredUntil) return undefined;
  if (nextStart !== undefined) return nextStart > coveredUntil ? { from: coveredUntil, to: nextStart } : undefined;
  return isRecording && read.bytes === read.fileBytes ? undefined : { from: coveredUntil };
}

/**
 * The changes in a time, the oldest first. The time before the first record is a gap.
 * @throws DomainError INVALID_INPUT when all of it is before the first record
 */
export async function readChanges(folder: string, query: ChangesQuery): Promise<ChangesPage> {
  const reader = new ChangesReader(query);
  const segments = await listSegments(folder);
  const earliest = segments.toSorted((one, other) => one.start - other.start)[0];
  if (!earliest || earliest.start >= query.to) throw tooEarly('to', earliest);
  if (query.after === undefined) reader.begin(earliest.start);
  const isWanted = ({ sequence, start }: Segment): boolean => sequence >= reader.startSequence && start < query.to;
  for (const [index, segment] of segments.entries()) {
    const next = segments[index + 1];
    const isBefore = next !== undefined && !next.isSetBack && next.start <= query.from;
    if (!isWanted(segment) || isBefore) continue;
    if (!(await reader.read(segment, next))) break;
  }
  return reader.page();
}

class ChangesReader {
  private readonly found: PastChange[] = [];
  private readonly skipped: readonly [sequence: number, position: number];
  private sequence = 0;
  private position = 0;
  private scanned = 0;
  /** Where the page ends, and the position before. */
  private last = '';
  private before = '';
  /** The name of the wanted instance, which is compared first. */
  private readonly name: string | undefined;
  private hasMore = false;

  constructor(private readonly query: ChangesQuery) {
    const [sequence = 0, position = 0] = query.after?.split('-').map(Number) ?? [];
    this.skipped = [sequence, position];
    this.name = query.ref === undefined ? undefined : parseRef(query.ref).name;
  }

  get startSequence(): number {
    return this.skipped[0];
  }

  /** @param start the first record of all */
  begin(start: number): void {
    const { from } = this.query;
    if (from < start) this.found.push({ type: 'gap', since: from, time: start });
  }

  /** @returns whether the next segment is to be read */
  async read(segment: Segment, next: Segment | undefined): Promise<boolean> {
    this.sequence = segment.sequence;
    this.position = 0;
    if (this.last === '') this.last = `${segment.sequence}-0`;
    const { to } = this.query;
    const replay = await replaySegment(segment, {
      gap: (since, time) => !this.isNext() || this.take(this.gapOf(since, time)),
      until: (time) => time < to && !this.hasMore,
      wants: (entry, time) => this.isNext() && this.isChosen(entry, time),
      change: (change, time, isFromGap) => this.take(this.changeOf(change, time, isFromGap)),
    });
    if (replay?.read && next && next.start > replay.coveredUntil && this.isNext())
      this.take(this.gapOf(replay.coveredUntil, next.start));
    return !this.hasMore;
  }

  page(): ChangesPage {
    return { changes: this.found, ...(this.hasMore && { cursor: this.last }) };
  }

  /** @returns whether this position is after the page before, and still in this one */
  private isNext(): boolean {
    this.position++;
    const [sequence, position] = this.skipped;
    if (this.sequence === sequence && this.position <= position) return false;
    if (this.scanned >= MAX_SCANNED) this.hasMore = true;
    if (this.hasMore) return false;
    this.scanned++;
    this.before = this.last;
    this.last = `${this.sequence}-${this.position}`;
    return true;
  }

  /** @returns false when the page is full */
  private take(change: PastChange | undefined): boolean {
    if (!change) return true;
    if (this.found.length < this.query.limit) {
      this.found.push(change);
      return true;
    }
    this.hasMore = true;
    this.last = this.before;
    return false;
  }

  private gapOf(since: number, time: number): PastChange | undefined {
    const { from, to } = this.query;
    return since < time && time >= from && since < to ? { type: 'gap', since, time } : undefined;
  }

  private isChosen(entry: FlatEntry, time: number): boolean {
    const { from, context, ref } = this.query;
    if (time < from) return false;
    const of = entry['ref'] as InstanceRef;
    return (
      (context === undefined || of.context === context) &&
      (ref === undefined || (of.name === this.name && formatRef(of) === ref))
    );
  }

  private changeOf({ type, before, after }: FlatChange, time: number, isFromGap: boolean): PastChange | undefined {
    const change = {
      type,
      time,
      isFromGap,
      ...(before && { before: unflatten(before) }),
      ...(after && { after: unflatten(after) }),
    };
    return (this.query.isVisible?.(change) ?? true) ? change : undefined;
  }
}
