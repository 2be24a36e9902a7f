import { Database } from '../database.js';
import { RoomRules } from '../rooms/room-rules.js';
import { Rooms } from '../rooms/rooms.js';
import { DelayedEvents } from './delayed-events.js';
import { FixedClock } from '@headgate/clock/testing';

const ROOM = '!r:b';
const NORA = '@nora:b';

describe('DelayedEvents', () => {
  let db: Database;
  let clock: FixedClock;
  let rooms: Rooms;
  let delayed: DelayedEvents;

  beforeEach(() => {
    db = Database.inMemory();
    clock = new FixedClock();
    rooms = new Rooms(db, clock);
    delayed = new DelayedEvents(db, rooms, new RoomRules(rooms), clock);
    rooms.create(ROOM, NORA, '11');
    setMembership('join');
  });
  afterEach(() => db.close());

  const setMembership = (membership: string) =>
    rooms.append({ roomId: ROOM, type: 'm.room.member', stateKey: NORA, sender: NORA, content: { membership } });
  const schedule = (delayMs = 100) =>
    delayed.schedule({ roomId: ROOM, type: 'm.x', sender: NORA, content: { a: 1 } }, delayMs);

  test('are sent when they are due and not before', () => {
    const id = schedule(100);
    clock.advance(99);
    delayed.sendDue();
    expect(delayed.find(id)?.status).toBe('pending');
    clock.advance(1);
    delayed.sendDue();
    const { status, event_id } = delayed.find(id) ?? {};
    expect(status).toBe('sent');
    expect(rooms.event(ROOM, event_id ?? '')).toMatchObject({ content: { a: 1 }, delayId: id });
  });

  test('are checked against the room when they are due', () => {
    const id = schedule();
    setMembership('leave');
    clock.advance(100);
    delayed.sendDue();
    expect(delayed.find(id)).toMatchObject({ status: 'failed', error: expect.stringContaining('M_FORBIDDEN') });
  });

  test('wait for the whole delay again after a restart', () => {
    const id = schedule(100);
    clock.advance(60);
    delayed.manage(delayed.find(id)!, 'restart');
    expect(delayed.nextDue()).toBe(clock.now() + 100);
  });

  test('stop counting immediately when they are canceled or sent', () => {
    const [one, two] = [schedule(), schedule()];
    delayed.manage(delayed.find(one)!, 'cancel');
    delayed.manage(delayed.find(two)!, 'send');
    expect(delayed.countPending(NORA, ROOM)).toBe(0);
  });

  test('accept a repeated action, and refuse a contradicting one', () => {
    const id = schedule();
    delayed.manage(delayed.find(id)!, 'cancel');
    expect(() => delayed.manage(delayed.find(id)!, 'cancel')).not.toThrow();
    expect(() => delayed.manage(delayed.find(id)!, 'send')).toThrow(expect.objectContaining({ status: 409 }));
    expect(() => delayed.manage(delayed.find(id)!, 'restart')).toThrow(expect.objectContaining({ status: 409 }));
  });

  test('are deleted a week after they finished', () => {
    const id = schedule();
    delayed.manage(delayed.find(id)!, 'cancel');
    clock.advance(7 * 24 * 3_600_000 + 1);
    delayed.sendDue();
    expect(delayed.find(id)).toBeUndefined();
  });
});
