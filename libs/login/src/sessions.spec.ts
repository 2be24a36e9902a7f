import { DomainError } from '@headgate/domain-contracts';
import { FixedClock, MemoryLoginSessionStore } from '@headgate/testing';
import { MAX_SESSIONS_PER_USER, Sessions, type NewSession } from './sessions.js';

const MINUTE_MS = 60_000;
const user = (login: string): NewSession => ({
  login,
  name: '',
  groups: ['ops'],
  provider: '',
  address: '192.0.2.1',
  agent: 'Browser',
});

describe('Sessions', () => {
  let clock: FixedClock;
  let store: MemoryLoginSessionStore;
  let sessions: Sessions;

  beforeEach(() => {
    clock = new FixedClock(Date.parse('2026-01-01T00:00:00Z'));
    store = new MemoryLoginSessionStore();
    sessions = new Sessions(store, clock, { idleMs: 30 * MINUTE_MS, totalMs: 120 * MINUTE_MS });
  });

  test('recognizes the text of a session, and stores only its hash', async () => {
    const { session, text } = await sessions.open(user('ann'));
    expect(sessions.authenticate(text)).toMatchObject({ id: session.id, login: 'ann', groups: ['ops'] });
    expect(text).toMatch(/^[\w-]{12}\.[\w-]{43}$/);
    expect(JSON.stringify(store.all())).not.toContain(text.split('.')[1]);
  });

  test.each([
    ['an empty text', () => ''],
    ['the ID alone', (text: string) => text.slice(0, 12)],
    ['another secret', (text: string) => `${text.slice(0, -1)}${text.endsWith('A') ? 'B' : 'A'}`],
    ['the ID of another session', (text: string) => `AAAAAAAAAAAA${text.slice(12)}`],
    ['more text', (text: string) => `${text} `],
  ])('refuses %s', async (_title, change) => {
    const { text } = await sessions.open(user('ann'));
    expect(sessions.authenticate(change(text))).toBeUndefined();
  });

  test('refuses a session that was idle for too long, and keeps one that is used', async () => {
    const idle = await sessions.open(user('ann'));
    const used = await sessions.open(user('ann'));
    clock.advance(29 * MINUTE_MS);
    expect(sessions.authenticate(used.text)).toBeDefined();
    clock.advance(MINUTE_MS);
    expect(sessions.authenticate(idle.text)).toBeUndefined();
    expect(sessions.all().map(({ id }) => id)).toEqual([used.session.id]);
  });

  test('refuses a session after its time, however much it is used', async () => {
    const { text } = await sessions.open(user('ann'));
    for (let minute = 0; minute < 119; minute += 7) {
      expect(sessions.authenticate(text)).toBeDefined();
      clock.advance(7 * MINUTE_MS);
    }
    clock.advance(MINUTE_MS);
    expect(sessions.authenticate(text)).toBeUndefined();
  });

  test('refuses the former text of a session that was rotated', async () => {
    const { session, text } = await sessions.open(user('ann'));
    const next = await sessions.rotate(session.id);
    expect([sessions.authenticate(text), sessions.authenticate(next ?? '')?.id]).toEqual([undefined, session.id]);
    expect(await sessions.rotate('gone')).toBeUndefined();
  });

  test('closes the connections of a session that ends, and no others', async () => {
    const [one, other] = [await sessions.open(user('ann')), await sessions.open(user('bob'))];
    const closed: string[] = [];
    sessions.closeWith(one.session.id, () => closed.push('one'));
    sessions.closeWith(one.session.id, () => closed.push('gone'))();
    sessions.closeWith(other.session.id, () => closed.push('other'));
    await sessions.endOf('ann');
    expect([closed, sessions.authenticate(one.text)]).toEqual([['one'], undefined]);
    sessions.closeWith(one.session.id, () => closed.push('late'));
    expect(closed).toEqual(['one', 'late']);
  });

  test('closes connections when a session is idle for too long, counted from its last use', async () => {
    const { session, text } = await sessions.open(user('ann'));
    let isClosed = false;
    sessions.closeWith(session.id, () => (isClosed = true));
    clock.advance(20 * MINUTE_MS);
    sessions.authenticate(text);
    clock.advance(20 * MINUTE_MS);
    expect(isClosed).toBe(false);
    clock.advance(10 * MINUTE_MS);
    expect([isClosed, clock.pending]).toEqual([true, 0]);
  });

  test('ends the session that was used least recently when a user has too many', async () => {
    const first = await sessions.open(user('ann'));
    const other = await sessions.open(user('bob'));
    for (let count = 1; count < MAX_SESSIONS_PER_USER; count++) {
      clock.advance(1000);
      await sessions.open(user('ann'));
    }
    expect(sessions.authenticate(first.text)).toBeDefined();
    clock.advance(1000);
    await sessions.open(user('ann'));
    expect(sessions.authenticate(first.text)).toBeDefined();
    expect(sessions.all().filter(({ login }) => login === 'ann')).toHaveLength(MAX_SESSIONS_PER_USER);
    expect(sessions.authenticate(other.text)).toBeDefined();
  });

  test('records the last use at most once a minute', async () => {
    const { session, text } = await sessions.open(user('ann'));
    clock.advance(30_000);
    sessions.authenticate(text);
    expect(store.get(session.id)?.lastUsedAt).toBe('2026-01-01T00:00:00.000Z');
    clock.advance(30_000);
    sessions.authenticate(text);
    expect(store.get(session.id)?.lastUsedAt).toBe('2026-01-01T00:01:00.000Z');
  });

  describe('with a store that replicas share', () => {
    /** Reports writes of the other replica on request. */
    class SharedStore extends MemoryLoginSessionStore {
      report = (): void => undefined;
      isReached = true;
      /** Sessions that this replica has not seen yet. */
      readonly unseen = new Set<string>();

      constructor() {
        super();
        const { get } = this;
        this.get = (id) => {
          if (!this.isReached) throw new DomainError('NOT_READY', 'The store is not reached.');
          return this.unseen.has(id) ? undefined : get(id);
        };
      }

      override async reload(id?: string): Promise<void> {
        if (id !== undefined) this.unseen.delete(id);
      }

      override subscribe(listener: () => void): () => void {
        this.report = listener;
        return () => undefined;
      }
    }
    let shared: SharedStore;

    beforeEach(() => {
      shared = new SharedStore();
      sessions = new Sessions(shared, clock, { idleMs: 30 * MINUTE_MS, totalMs: 120 * MINUTE_MS });
    });

    test('recognizes a session that another replica has just opened', async () => {
      const { session, text } = await sessions.open(user('ann'));
      shared.unseen.add(session.id);
      expect(sessions.authenticate(text)).toBeUndefined();
      await sessions.prepare(text);
      expect(sessions.authenticate(text)?.login).toBe('ann');
    });

    test('closes the connections of a session that another replica has ended, and no others', async () => {
      const [ann, bob] = [await sessions.open(user('ann')), await sessions.open(user('bob'))];
      const closed: string[] = [];
      sessions.closeWith(ann.session.id, () => closed.push('ann'));
      sessions.closeWith(bob.session.id, () => closed.push('bob'));
      await shared.delete(ann.session.id);
      shared.report();
      expect(closed).toEqual(['ann']);
    });

    test('refuses sessions and closes connections while the store is not reached', async () => {
      const { session, text } = await sessions.open(user('ann'));
      let isClosed = false;
      sessions.closeWith(session.id, () => (isClosed = true));
      shared.isReached = false;
      shared.report();
      expect(isClosed).toBe(true);
      await sessions.prepare(text);
      expect(() => sessions.authenticate(text)).toThrow(/not reached/);
    });

    test('records the use of many requests at the same time once', async () => {
      const { text } = await sessions.open(user('ann'));
      let writes = 0;
      const { change } = shared;
      shared.change = async (id, update) => {
        writes++;
        await Promise.resolve();
        return change(id, update);
      };
      clock.advance(2 * MINUTE_MS);
      for (let count = 0; count < 20; count++) sessions.authenticate(text);
      expect(writes).toBe(1);
    });
  });
});
