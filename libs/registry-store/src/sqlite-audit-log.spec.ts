import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { FixedClock } from '@headgate/testing';
import type { AuditEntry } from '@headgate/domain-contracts';
import { MIGRATIONS } from './migrations.js';
import { RegistryDatabase } from './registry-database.js';
import { SqliteAuditLog } from './sqlite-audit-log.js';
import { SqliteFleetAuditLog } from './sqlite-fleet-audit-log.js';

const DAY_MS = 24 * 60 * 60_000;

describe('the audit log of the registry', () => {
  let folder: string;
  let file: string;
  let database: RegistryDatabase;
  let clock: FixedClock;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'headgate-audit-'));
    file = join(folder, 'registry.db');
    database = new RegistryDatabase(file).open();
    clock = new FixedClock();
  });

  afterEach(() => {
    database.close();
    rmSync(folder, { recursive: true });
  });

  const entry = (overrides: Partial<AuditEntry> = {}): AuditEntry => ({
    time: clock.iso(),
    caller: 'ann',
    action: 'start',
    ref: 'vm/local/local/web',
    outcome: 'ok',
    message: '',
    ...overrides,
  });
  const log = (maxEntries = 1000, maxDays = 30) => new SqliteAuditLog(database, { maxEntries, maxDays }, clock);
  const all = () => new SqliteFleetAuditLog(database).find({ limit: 100_000 });
  const fill = (target: SqliteAuditLog, count: number, overrides: Partial<AuditEntry> = {}): void =>
    database.transaction(() => {
      for (let index = 0; index < count; index++) target.append(entry(overrides));
    });

  test('keeps who, from where, what and the outcome', () => {
    const full = entry({
      kind: 'request',
      token: 'abcdefghij',
      address: '192.0.2.7',
      route: 'POST /api/vms',
      outcome: 'denied',
      status: 403,
      code: 'NOT_PERMITTED',
      message: 'No.',
    });
    log().append(full);
    log().append(entry());
    expect(all()).toEqual([
      { number: 2, ...entry(), kind: 'action', token: '', address: '', route: '', status: null, code: '' },
      { number: 1, ...full },
    ]);
  });

  test('lists only actions as the events of an instance', () => {
    log().append(entry({ kind: 'request', outcome: 'denied' }));
    log().append(entry());
    expect(log().recent(10, 'vm/local/local/web')).toEqual([entry()]);
    expect(log().recent(10)).toEqual([entry()]);
  });

  test('keeps the newest actions, however many requests were denied since', () => {
    fill(log(), 1500);
    fill(log(), 12_000, { kind: 'request', outcome: 'denied' });
    const kept = all();
    const [actions, requests] = ['action', 'request'].map((kind) => kept.filter((one) => one.kind === kind));
    expect([actions?.length, actions?.[0]?.number, requests?.length]).toEqual([1000, 1500, 10_000]);
  });

  test('deletes entries that are too old', () => {
    fill(log(), 499);
    clock.advance(31 * DAY_MS);
    log().append(entry({ action: 'stop' }));
    expect(all()).toMatchObject([{ action: 'stop', number: 500 }]);
  });

  test('cuts a long message', () => {
    log().append(entry({ message: 'a'.repeat(100_000) }));
    expect(all()[0]?.message).toHaveLength(2000);
  });

  describe('counts the actions of spans of time', () => {
    const MINUTE_MS = 60_000;
    const count = (since: number) => new SqliteFleetAuditLog(database).countActions({ since, spanMs: 10 * MINUTE_MS });

    test('by users, by tokens and failed, without denied requests, downloads and the requests of tasks', () => {
      const since = clock.now();
      log().append(entry());
      log().append(entry({ token: 'abcdefghij' }));
      log().append(entry({ outcome: 'error' }));
      log().append(entry({ outcome: 'denied', kind: 'request' }));
      log().append(entry({ kind: 'request', route: 'POST /api/ext/bulk', status: 202 }));
      log().append(entry({ kind: 'request', route: 'GET /api/vms/:ns/:name/export', status: 200 }));
      log().append(entry({ kind: 'request', route: 'POST /api/ext/tokens', status: 201 }));
      expect(count(since)).toEqual([{ span: 0, users: 2, tokens: 1, failed: 1 }]);
    });

    test('at the edges of the spans', () => {
      const since = clock.now();
      log().append(entry({ time: new Date(since - 1).toISOString() }));
      log().append(entry());
      clock.advance(10 * MINUTE_MS - 1);
      log().append(entry());
      clock.advance(1);
      log().append(entry());
      clock.advance(20 * MINUTE_MS);
      log().append(entry());
      expect(count(since).map(({ span, users }) => [span, users])).toEqual([
        [0, 2],
        [1, 1],
        [3, 1],
      ]);
    });
  });

  test('has an invented past until it is replaced, and none next to entries of its own', () => {
    log().replaceSimulated([entry({ action: 'old' }), entry({ action: 'new' })]);
    expect(all()).toMatchObject([
      { action: 'new', kind: 'simulated' },
      { action: 'old', kind: 'simulated' },
    ]);
    expect(new SqliteFleetAuditLog(database).countActions({ since: 0, spanMs: DAY_MS })).toMatchObject([{ users: 2 }]);
    expect(log().recent(10)).toEqual([]);
    log().append(entry());
    log().replaceSimulated([entry({ action: 'old' })]);
    expect(all()).toMatchObject([{ action: 'start', kind: 'action' }]);
  });

  test('summarizes the entries that a query finds', () => {
    log().append(entry());
    log().append(entry({ caller: 'bob', ref: '', outcome: 'error' }));
    log().append(entry({ caller: 'bob', token: 'abcdefghij', outcome: 'denied' }));
    log().append(entry({ ref: 'vm/local/local/db', action: 'Stop' }));
    const fleet = new SqliteFleetAuditLog(database);
    expect(fleet.summarize({ limit: 2 })).toEqual({
      entries: 4,
      failed: 1,
      denied: 1,
      objects: 2,
      callers: [
        { caller: 'ann', token: '', entries: 2 },
        { caller: 'bob', token: '', entries: 1 },
      ],
    });
    expect(fleet.summarize({ limit: 2, action: 'sto' })).toMatchObject({ entries: 1, objects: 1 });
    expect(fleet.summarize({ limit: 2, caller: 'eve' })).toEqual({
      entries: 0,
      failed: 0,
      denied: 0,
      objects: 0,
      callers: [],
    });
  });

  test('refuses to change an entry', () => {
    log().append(entry());
    expect(() => database.run(`UPDATE audit SET caller = 'eve'`)).toThrow(/never changed/);
    expect(all()).toMatchObject([{ caller: 'ann' }]);
  });

  test('keeps the entries of an earlier release', () => {
    database.close();
    const old = join(folder, 'old.db');
    const raw = new DatabaseSync(old);
    // The layout before entries had an address.
    const steps = MIGRATIONS.slice(
      0,
      MIGRATIONS.findIndex((step) => step.includes('ADD COLUMN token')),
    );
    for (const step of steps) raw.exec(step);
    raw.exec(`PRAGMA user_version = ${steps.length}`);
    raw.exec(
      `INSERT INTO audit (time, caller, action, ref, outcome, message) VALUES ('2026-01-01', 'ann', 'start', 'x', 'ok', '')`,
    );
    raw.close();
    database = new RegistryDatabase(old).open();
    expect(all()).toMatchObject([{ caller: 'ann', kind: 'action', token: '', status: null }]);
  });
});
