import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { AuditEntry, ChainedJournalEntry } from '@headgate/domain-contracts';
import { endLine, ExportCheck, exportLine, NO_HASH, type CheckedExport } from '@headgate/journal-chain';
import { FixedClock } from '@headgate/testing';
import { MIGRATIONS } from './migrations.js';
import { RegistryDatabase } from './registry-database.js';
import { SqliteAuditLog } from './sqlite-audit-log.js';
import { SqliteFleetAuditLog, SqliteJournalPositions } from './sqlite-fleet-audit-log.js';

const DAY_MS = 24 * 60 * 60_000;

const lineOf = ({ links, ...entry }: ChainedJournalEntry): string =>
  exportLine({ ...entry, kind: entry.kind as 'action', ...links } as never);

describe('the chain of the audit log', () => {
  let folder: string;
  let file: string;
  let database: RegistryDatabase;
  let clock: FixedClock;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'headgate-chain-'));
    file = join(folder, 'registry.db');
    database = new RegistryDatabase(file).open();
    clock = new FixedClock();
  });

  afterEach(() => {
    database.close();
    rmSync(folder, { recursive: true });
  });

  const log = (maxEntries = 1000, maxDays = 30) => new SqliteAuditLog(database, { maxEntries, maxDays }, clock);
  const fleet = () => new SqliteFleetAuditLog(database);
  const append = (entry: Partial<AuditEntry> = {}, target = log()): void =>
    target.append({ time: clock.iso(), caller: 'ann', action: 'start', ref: '', outcome: 'ok', message: '', ...entry });
  const fill = (count: number, entry: Partial<AuditEntry> = {}, target = log()): void =>
    database.transaction(() => {
      for (let index = 0; index < count; index++) append(entry, target);
    });
  const check = (after = 0): CheckedExport => {
    const checked = new ExportCheck();
    const entries = fleet().after(after, 100_000);
    for (const entry of entries) checked.add(lineOf(entry).trimEnd());
    const { number, hash } = fleet().head();
    checked.add(endLine({ number, hash, entries: entries.length }).trimEnd());
    return checked.finish();
  };

  test('begins with no link, and links both kinds', () => {
    expect(fleet().head()).toEqual({ number: 0, hash: NO_HASH });
    append();
    append({ kind: 'request' });
    append();
    const [first, second, third] = fleet().after(0, 10);
    expect(first?.links).toMatchObject({ previousAction: NO_HASH, previousRequest: NO_HASH });
    expect(third?.links).toMatchObject({
      previousAction: first?.links?.hash,
      previousRequest: second?.links?.hash,
    });
    expect(fleet().head()).toEqual({ number: 3, hash: third?.links?.hash });
    expect(check()).toMatchObject({ entries: 3, unchained: 0, first: 1 });
  });

  test('has the hash of the stored text, whatever a guest writes', () => {
    append({ message: `${'a'.repeat(1999)}\u{1F600}` });
    append({ message: 'a\0b\ud800\udc00\udc00 \u2028"\\' });
    expect(check()).toMatchObject({ entries: 2 });
  });

  test('survives a restart and the deletion of old entries of either kind', () => {
    fill(1200);
    fill(800, { kind: 'request' });
    database.close();
    database.open();
    fill(500);
    expect(fleet().deleted()).toEqual({ action: 700, request: 0 });
    expect(check()).toMatchObject({ entries: 1000 + 800, first: 701, head: { number: 2500 } });
    clock.advance(31 * DAY_MS);
    fill(500);
    expect(fleet().deleted()).toEqual({ action: 2500, request: 2000 });
    expect(check()).toMatchObject({ entries: 500, first: 2501 });
    append({ kind: 'request' });
    expect(check()).toMatchObject({ entries: 501, head: { number: 3001 } });
    expect(check(2900)).toMatchObject({ entries: 101, first: 2901 });
  });

  test('deletes nothing from the middle after the clock was set back', () => {
    fill(100);
    clock.advance(-40 * DAY_MS);
    fill(100);
    clock.advance(60 * DAY_MS);
    fill(300);
    expect(check()).toMatchObject({ entries: 500, first: 1 });
  });

  test('goes on after a write that failed', () => {
    append();
    expect(() =>
      database.transaction(() => {
        append();
        throw new Error('The disk is full.');
      }),
    ).toThrow('full');
    append();
    expect(check()).toMatchObject({ entries: 2, head: { number: 2 } });
  });

  test.each([
    ['changed', "UPDATE audit SET caller = 'eve' WHERE id = 3", 'Entry 3 was changed.'],
    ['removed', 'DELETE FROM audit WHERE id = 3', 'Entries between 2 and 4 were removed'],
  ])('shows that an entry was %s in the file', (_what, sql, message) => {
    fill(5);
    database.run('DROP TRIGGER audit_is_append_only');
    database.run(sql);
    expect(() => check()).toThrow(message);
  });

  test('has no invented entries, before or after its own', () => {
    log().replaceSimulated([{ time: clock.iso(), caller: '', action: 'a', ref: '', outcome: 'ok', message: '' }]);
    append();
    log().replaceSimulated([]);
    append();
    expect(check()).toMatchObject({ entries: 2, first: 2 });
  });

  test('begins after the entries of an earlier release', () => {
    database.close();
    const old = join(folder, 'old.db');
    const raw = new DatabaseSync(old);
    const steps = MIGRATIONS.slice(
      0,
      MIGRATIONS.findIndex((step) => step.includes('audit_anchor')),
    );
    for (const step of steps) raw.exec(step);
    raw.exec(`PRAGMA user_version = ${steps.length}`);
    raw.exec(
      `INSERT INTO audit (time, caller, action, ref, outcome, message) VALUES ('2026-01-01', 'ann', 'start', 'x', 'ok', '')`,
    );
    raw.close();
    database = new RegistryDatabase(old).open();
    append();
    expect(check()).toMatchObject({ entries: 1, unchained: 1, first: 2 });
  });

  test('knows how far a reader is', () => {
    const positions = new SqliteJournalPositions(database);
    expect(positions.get('syslog')).toBeUndefined();
    positions.set('syslog', 3);
    positions.set('syslog', 4);
    expect(positions.get('syslog')).toBe(4);
  });
});
