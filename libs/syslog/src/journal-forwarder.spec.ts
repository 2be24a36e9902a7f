import type { ChainedJournalEntry } from '@headgate/domain-contracts';
import { FixedClock } from '@headgate/testing';
import { buildEntry } from './testing/entries.js';
import { parseMessage } from './testing/parse-message.js';
import { until } from './testing/until.js';
import { JournalForwarder } from './journal-forwarder.js';

/** A server that takes messages, or fails. */
class Server {
  readonly messages: string[] = [];
  isDown = false;
  attempts = 0;
  private readonly open = new Set<AbortController>();

  connect = async () => {
    this.attempts++;
    if (this.isDown) throw new Error('The server is down.');
    const ended = new AbortController();
    this.open.add(ended);
    return {
      ended: ended.signal,
      close: () => void this.open.delete(ended),
      send: async (messages: readonly string[]) => {
        ended.signal.throwIfAborted();
        this.messages.push(...messages);
      },
    };
  };

  fail(): void {
    this.isDown = true;
    for (const one of this.open) one.abort(new Error('The server has closed the connection.'));
  }

  get connections(): number {
    return this.open.size;
  }

  get numbers(): string[] {
    return this.messages.map((message) => {
      const { id, data } = parseMessage(message);
      return id === 'lost' ? `lost ${data['lost']}` : (data['number'] ?? '');
    });
  }
}

describe('the forwarder of the journal', () => {
  let clock: FixedClock;
  let server: Server;
  let entries: ChainedJournalEntry[];
  let position: number | undefined;
  let logged: string[];
  let listeners: Set<() => void>;
  let forwarder: JournalForwarder;

  beforeEach(() => {
    clock = new FixedClock();
    server = new Server();
    [entries, position, logged, listeners] = [[buildEntry(1), buildEntry(2)], undefined, [], new Set()];
    forwarder = create();
  });
  afterEach(() => forwarder.stop());

  const create = (connect = server.connect) =>
    new JournalForwarder(
      {
        journal: {
          find: () => entries.slice(-1),
          after: (number, limit) => entries.filter((entry) => entry.number > number).slice(0, limit),
        },
        positions: { get: () => position, set: (_reader, number) => void (position = number) },
        audit: {
          subscribe: (listener) => {
            listeners.add(listener);
            return () => listeners.delete(listener);
          },
        },
        clock,
        log: { info: (_fields, text) => void logged.push(text), warn: (_fields, text) => void logged.push(text) },
        connect,
      },
      { sender: { facility: 'local0', hostname: 'h', processId: 1 }, reader: 'tcp a:1', maxWaiting: 250 },
    );
  const add = (count: number): void => {
    const first = (entries.at(-1)?.number ?? 0) + 1;
    for (let index = 0; index < count; index++) entries.push(buildEntry(first + index));
    for (const listener of [...listeners]) listener();
    clock.advance(100);
  };
  const sent = (expected: readonly string[]) =>
    until(
      () => server.numbers,
      (seen) => seen.length >= expected.length,
    ).then((seen) => expect(seen).toEqual(expected));
  const numbers = (from: number, through: number) =>
    Array.from({ length: through - from + 1 }, (_none, index) => String(from + index));

  test('sends a new server the entries from now on, in order and in parts', async () => {
    forwarder.start();
    add(230);
    await sent(numbers(3, 232));
    expect(position).toBe(232);
    expect(forwarder.state).toEqual({ isConnected: true, error: undefined, sent: 230, lost: 0 });
  });

  test('sends the entries of the time in which the service was down', async () => {
    position = 1;
    forwarder.start();
    await sent(['2']);
  });

  test('sends what waited for a lost server, tries less and less often, and logs the loss once', async () => {
    forwarder.start();
    add(1);
    await sent(['3']);
    server.fail();
    await until(
      () => clock.pending,
      (timers) => timers > 0,
    );
    add(5);
    for (const ms of [1_000, 2_000, 4_000]) {
      const { attempts } = server;
      clock.advance(ms);
      await until(
        () => server.attempts,
        (now) => now > attempts,
      );
      await until(
        () => clock.pending,
        (timers) => timers > 0,
      );
    }
    expect(forwarder.state).toMatchObject({ isConnected: false, error: 'The server is down.' });
    server.isDown = false;
    clock.advance(8_000);
    await sent(numbers(3, 8));
    expect(logged.filter((text) => text === 'the server of syslog is lost')).toHaveLength(2);
    expect(logged.at(-1)).toBe('the server of syslog is connected');
  });

  test('keeps a bounded number of entries for a lost server, and reports the others with their number', async () => {
    position = 2;
    server.isDown = true;
    forwarder.start();
    await until(
      () => clock.pending,
      (timers) => timers > 0,
    );
    add(1000);
    server.isDown = false;
    clock.advance(1_000);
    await sent(['lost 750', ...numbers(753, 1002)]);
    expect(forwarder.state).toMatchObject({ sent: 250, lost: 750 });
  });

  test('reports entries that were deleted before they could be sent', async () => {
    entries = [buildEntry(1), buildEntry(2), buildEntry(5), buildEntry(6, { kind: 'request' })];
    position = 2;
    forwarder.start();
    await sent(['lost 2', '5', '6']);
  });

  test('begins at the newest entry of another registry', async () => {
    position = 900;
    forwarder.start();
    add(1);
    await sent(['3']);
    expect(position).toBe(3);
  });

  test('closes its connection at the end, also one that opens meanwhile', async () => {
    forwarder.start();
    await until(
      () => server.connections,
      (count) => count === 1,
    );
    await forwarder.stop();
    expect([server.connections, clock.pending, listeners.size]).toEqual([0, 0, 0]);
    const late = Promise.withResolvers<void>();
    forwarder = create(async () => {
      await late.promise;
      return server.connect();
    });
    forwarder.start();
    const stopped = forwarder.stop();
    late.resolve();
    await stopped;
    expect(server.connections).toBe(0);
  });
});
