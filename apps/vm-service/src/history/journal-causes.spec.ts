import type { FleetAuditLog, JournalEntry, JournalQuery } from '@headgate/domain-contracts';
import { JournalCauses } from './journal-causes.js';

const at = (second: number): number => Date.UTC(2026, 0, 1) + second * 1000;
const entry = (second: number, more: Partial<JournalEntry> = {}): JournalEntry =>
  ({ ref: 'vm/lab/default/db', time: new Date(at(second)).toISOString(), kind: 'action', ...more }) as JournalEntry;

/** As the journal of the registry: the newest first. */
class Journal {
  readonly queries: JournalQuery[] = [];

  constructor(private readonly entries: readonly JournalEntry[]) {}

  find(query: JournalQuery): readonly JournalEntry[] {
    this.queries.push(query);
    return this.entries
      .filter(({ ref, time }) => ref === query.ref && time >= query.since! && time < query.until!)
      .slice(0, query.limit);
  }
}

const causesOf = (journal: Journal): JournalCauses =>
  new JournalCauses(journal as unknown as FleetAuditLog, at(0), at(100_000), () => undefined);

describe('the causes of the journal', () => {
  test('are searched once for each object, and chosen by their time', () => {
    const journal = new Journal([entry(30), entry(20, { kind: 'request' }), entry(10)]);
    const causes = causesOf(journal);
    const secondsOf = (from: number, to: number): number[] =>
      causes.actions('vm/lab/default/db', at(from), at(to)).map(({ time }) => (Date.parse(time) - at(0)) / 1000);
    expect([secondsOf(0, 100), secondsOf(10, 30), secondsOf(11, 31), secondsOf(31, 99)]).toEqual([
      [30, 10],
      [10],
      [30],
      [],
    ]);
    expect(causes.actions('vm/lab/default/web', at(0), at(100))).toEqual([]);
    expect(journal.queries).toHaveLength(2);
  });

  test('are complete for an object with more actions than are read at once', () => {
    const journal = new Journal(Array.from({ length: 5000 }, (_none, index) => entry(5000 - index)));
    const causes = causesOf(journal);
    expect(causes.actions('vm/lab/default/db', at(7), at(9))).toEqual([entry(8), entry(7)]);
    expect(causes.actions('vm/lab/default/db', at(4990), at(4991))).toEqual([entry(4990)]);
  });
});
