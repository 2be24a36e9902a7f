import { Inject, Injectable, type BeforeApplicationShutdown } from '@nestjs/common';
import { Audit, Clock, FleetAuditLog, type ChainedJournalEntry } from '@headgate/domain-contracts';
import type { FeedBatch } from '@headgate/fleet';
import { eventText } from '../platform/event-text.js';
import { soonAfter } from '../platform/soon-after.js';
import { presentEntry } from './present-entry.js';

/** Entries that are recorded together are sent together. */
const INTERVAL_MS = 100;
export const ENTRIES_PER_BATCH = 200;

/**
 * The journal for the readers of streams. A reader is the number of its last entry: the entries behind it are read from
 * the log when it reads on, so a slow reader costs no memory. Readers at the same entry share the bytes.
 */
@Injectable()
export class JournalFeed implements BeforeApplicationShutdown {
  private readonly listeners = new Set<() => void>();
  private readonly stop: () => void;
  private recent: (FeedBatch & { readonly from: number; readonly newest: number }) | undefined;

  constructor(
    private readonly journal: FleetAuditLog,
    @Inject(Audit) audit: Audit,
    @Inject(Clock) clock: Clock,
  ) {
    this.stop = soonAfter(clock, INTERVAL_MS, (recorded) => audit.subscribe(recorded))(() => {
      for (const listener of [...this.listeners]) listener();
    });
  }

  beforeApplicationShutdown(): void {
    this.stop();
    this.listeners.clear();
  }

  /** The number of the newest entry. */
  get position(): number {
    return this.journal.find({ limit: 1 })[0]?.number ?? 0;
  }

  subscribe(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  }

  /** @returns undefined without newer entries; `expired` for a number that the journal has not reached */
  since(number: number): FeedBatch | 'expired' | undefined {
    const newest = this.position;
    if (number > newest) return 'expired';
    if (number === newest) return undefined;
    if (this.recent?.from === number && this.recent.newest === newest) return this.recent;
    const entries = this.journal.after(number, ENTRIES_PER_BATCH);
    const last = entries.at(-1);
    // The rest are invented entries.
    if (!last) return { bytes: Buffer.alloc(0), position: newest };
    const bytes = Buffer.from([...this.gapAfter(number), ...entries.map(entryText)].join(''));
    this.recent = { from: number, newest, bytes, position: last.number };
    return this.recent;
  }

  /** Entries that were deleted before the reader got them. */
  private gapAfter(number: number): string[] {
    const { action, request } = this.journal.deleted();
    const through = Math.max(action, request);
    return through > number ? [eventText('gap', { after: number, through })] : [];
  }
}

const entryText = (entry: ChainedJournalEntry): string => eventText('entry', presentEntry(entry), String(entry.number));
