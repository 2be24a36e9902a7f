import { FixedClock } from '@headgate/clock/testing';
import { Accounts } from './accounts/accounts.js';
import { Database } from './database.js';
import { DelayedEvents } from './delayed-events/delayed-events.js';
import { RoomRules } from './rooms/room-rules.js';
import { Rooms } from './rooms/rooms.js';

const NORA = '@nora:b';
const ROOM = '!r:b';

describe('the store reads no whole table', () => {
  let db: Database;
  let clock: FixedClock;
  let accounts: Accounts;
  let rooms: Rooms;
  let delayed: DelayedEvents;
  beforeEach(() => {
    db = Database.inMemory();
    clock = new FixedClock();
    accounts = new Accounts(db, clock);
    rooms = new Rooms(db, clock);
    delayed = new DelayedEvents(db, rooms, new RoomRules(rooms), clock);
    accounts.create(NORA, 'hash');
    rooms.create(ROOM, NORA, '11');
    rooms.append({
      roomId: ROOM,
      type: 'm.room.member',
      stateKey: NORA,
      sender: NORA,
      content: { membership: 'join' },
    });
  });
  afterEach(() => db.close());

  const scansOf = (sql: string): string[] =>
    db
      .all<{ detail: string }>(`EXPLAIN QUERY PLAN ${sql}`)
      .map(({ detail }) => detail)
      .filter((detail) => detail.startsWith('SCAN'))
      .map((detail) => `${detail}: ${sql}`);

  /** The statements of `action`. */
  function statementsOf(action: () => void): Set<string> {
    const statements = new Set<string>();
    const restore = (['run', 'get', 'all'] as const).map((name) => {
      const original = db[name].bind(db) as (sql: string, ...values: string[]) => never;
      db[name] = (sql: string, ...values: unknown[]) => {
        statements.add(sql);
        return original(sql, ...(values as string[]));
      };
      return () => void delete (db as Partial<Database>)[name];
    });
    action();
    for (const undo of restore) undo();
    return statements;
  }

  function expectNoScan(action: () => void, least: number): void {
    const statements = [...statementsOf(action)];
    expect(statements.length).toBeGreaterThanOrEqual(least);
    expect(statements.flatMap(scansOf)).toEqual([]);
  }

  const schedule = () => delayed.schedule({ roomId: ROOM, type: 'm.x', sender: NORA, content: {} }, 100);

  test('and this test sees it if it does', () => {
    const statements = [...statementsOf(() => db.get('SELECT count(*) AS n FROM tokens WHERE user_id > device_id'))];
    expect(statements.flatMap(scansOf)).toHaveLength(1);
  });

  test('when a device logs out, or all of them', () => {
    const { deviceId } = accounts.logIn(NORA, {});
    expectNoScan(() => accounts.removeDevice(NORA, deviceId), 3);
    expectNoScan(() => accounts.removeAllDevices(NORA), 3);
  });

  test('for the rows that are deleted with a device', () => {
    const tables = db.all<{ name: string }>("SELECT name FROM sqlite_schema WHERE type = 'table'");
    const queries = tables.flatMap(({ name }) => {
      const keys = db.all<{ table: string; from: string }>(`PRAGMA foreign_key_list(${name})`);
      const columns = keys.filter(({ table }) => table === 'devices').map(({ from }) => `${from} = ?`);
      return columns.length === 0 ? [] : [`SELECT 1 FROM ${name} WHERE ${columns.join(' AND ')}`];
    });
    expect(queries).toHaveLength(3);
    expect(queries.flatMap(scansOf)).toEqual([]);
  });

  test('when a delayed event is scheduled, counted, listed, restarted, canceled and sent', () => {
    expectNoScan(() => {
      const [one = '', two = ''] = [schedule(), schedule()];
      delayed.countPending(NORA, ROOM);
      delayed.pendingOf(NORA);
      delayed.manage(delayed.find(one)!, 'restart');
      delayed.manage(delayed.find(two)!, 'cancel');
      delayed.manage(delayed.find(one)!, 'send');
    }, 6);
  });

  test('when the next delayed event is awaited, those that are due are sent and old ones are deleted', () => {
    schedule();
    clock.advance(100);
    expectNoScan(() => {
      delayed.nextDue();
      delayed.sendDue();
    }, 4);
  });
});
