import { Injectable } from '@nestjs/common';
import { DomainError, FleetAuditLog, type ChainedJournalEntry } from '@headgate/domain-contracts';
import { endLine, exportLine, NO_HASH, type ChainHead, type ChainedEntry } from '@headgate/journal-chain';

const ENTRIES_PER_READ = 500;
/** Each reads the log as fast as its client does. */
export const MAX_EXPORTS = 4;

/** Exports the journal as lines, oldest first, with the hashes of its chain. One part of it is in memory at a time. */
@Injectable()
export class ExportJournal {
  private running = 0;

  constructor(private readonly journal: FleetAuditLog) {}

  /**
   * @param after only entries with a larger number
   * @returns pieces of the text. They throw a CONFLICT if entries between them were deleted meanwhile
   * @throws DomainError TOO_MANY_STREAMS
   */
  open(after: number): AsyncIterable<string> {
    if (this.running >= MAX_EXPORTS)
      throw new DomainError('TOO_MANY_STREAMS', `${MAX_EXPORTS} exports of the journal are in progress; wait for one.`);
    return this.pieces(after);
  }

  private async *pieces(after: number): AsyncGenerator<string> {
    this.running++;
    try {
      let head: ChainHead = { number: 0, hash: NO_HASH };
      let position = after;
      let entries = 0;
      const seen = new Set<string>();
      for (;;) {
        this.expectNoneDeleted(seen, position);
        const part = this.journal.after(position, ENTRIES_PER_READ);
        const last = part.at(-1);
        if (!last) break;
        for (const { kind } of part) seen.add(kind);
        entries += part.length;
        position = last.number;
        head = { number: last.number, hash: last.links?.hash ?? NO_HASH };
        yield part.map((entry) => exportLine(toLine(entry))).join('');
        if (part.length < ENTRIES_PER_READ) break;
      }
      // An export without entries shows the head behind which there is nothing new.
      yield endLine({ ...(entries === 0 ? this.journal.head() : head), entries });
    } finally {
      this.running--;
    }
  }

  /** Otherwise the export would look as if entries had been removed from it. */
  private expectNoneDeleted(seen: ReadonlySet<string>, position: number): void {
    const deleted = this.journal.deleted();
    for (const kind of ['action', 'request'] as const)
      if (seen.has(kind) && deleted[kind] > position)
        throw new DomainError('CONFLICT', 'Entries were deleted while they were exported; export the journal again.');
  }
}

const toLine = ({ links, kind, ...entry }: ChainedJournalEntry): ChainedEntry =>
  ({ ...entry, kind: kind === 'request' ? kind : 'action', ...links }) as ChainedEntry;
