import { ConnectionTable } from './connection-table.js';

class FakeWorker {
  readonly given: [id: number, connection: string][] = [];

  give(id: number, connection: string): void {
    this.given.push([id, connection]);
  }

  /** The number of the last connection. */
  get last(): number {
    return this.given.at(-1)![0];
  }
}

describe('ConnectionTable', () => {
  let nowMs: number;
  let events: string[];
  let table: ConnectionTable<string>;
  let a: FakeWorker;
  let b: FakeWorker;

  beforeEach(() => {
    [nowMs, events] = [0, []];
    table = new ConnectionTable<string>({
      release: (connection) => void events.push(`release ${connection}`),
      refuse: (connection) => void events.push(`refuse ${connection}`),
      onEnded: (connection) => void events.push(`ended ${connection}`),
      now: () => nowMs,
    });
    [a, b] = [new FakeWorker(), new FakeWorker()];
  });

  const taken = (worker: FakeWorker) => table.taken(worker, worker.last);

  test('gives each connection to the worker with the fewest', () => {
    table.join(a);
    table.join(b);
    for (const name of ['1', '2', '3', '4']) table.add(name);
    expect(a.given.map(([, name]) => name)).toEqual(['1', '3']);
    expect(b.given.map(([, name]) => name)).toEqual(['2', '4']);
    taken(b);
    table.closed(b, b.last);
    table.add('5');
    expect(b.given.at(-1)?.[1]).toBe('5');
  });

  test('releases a connection once its worker has it, and counts it until it is closed', () => {
    table.join(a);
    table.add('1');
    expect(events).toEqual([]);
    taken(a);
    taken(a);
    expect(events).toEqual(['release 1']);
    table.closed(a, a.last);
    table.closed(a, a.last);
    expect(events).toEqual(['release 1', 'ended 1']);
    expect(table.count).toBe(0);
  });

  test('gives a connection that a dead worker had not confirmed to another one, under a new number', () => {
    table.join(a);
    table.join(b);
    table.add('1');
    const old = a.last;
    table.leave(a);
    expect(b.given).toEqual([[expect.any(Number), '1']]);
    expect(b.last).not.toBe(old);
    // A late answer to the first attempt changes nothing.
    table.taken(a, old);
    table.closed(a, old);
    expect([events, table.countOf(b)]).toEqual([[], 1]);
    taken(b);
    table.closed(b, b.last);
    // The worker counts as free again.
    expect([events, table.countOf(b)]).toEqual([['release 1', 'ended 1'], 0]);
  });

  test('ends the connections that a dead worker had', () => {
    table.join(a);
    table.add('1');
    taken(a);
    table.leave(a);
    expect(events).toEqual(['release 1', 'ended 1']);
  });

  test('keeps connections while there is no worker, up to a number', () => {
    for (let i = 0; i < 1_025; i++) table.add(String(i));
    expect(events).toEqual(['refuse 1024', 'ended 1024']);
    table.join(a);
    expect(a.given).toHaveLength(1_024);
    expect(table.count).toBe(1_024);
  });

  test('gives a connection that did not arrive to another worker, and spares the full one for a while', () => {
    table.join(a);
    table.join(b);
    table.add('1');
    table.lost(a, a.last);
    expect(b.given.map(([, name]) => name)).toEqual(['1']);
    table.add('2');
    expect(a.given).toHaveLength(1);
    nowMs = 1_000;
    table.add('3');
    expect(a.given.at(-1)?.[1]).toBe('3');
  });

  test('closes a connection that no worker has a file descriptor for', () => {
    table.join(a);
    table.add('1');
    table.lost(a, a.last);
    expect(events).toEqual(['refuse 1', 'ended 1']);
    expect(table.count).toBe(0);
  });

  test('gives a full worker connections again once one of its own is closed', () => {
    table.join(a);
    table.add('1');
    taken(a);
    const first = a.last;
    table.add('2');
    table.lost(a, a.last);
    table.closed(a, first);
    table.add('3');
    expect(a.given.at(-1)?.[1]).toBe('3');
  });

  test('ends the connections that wait when it closes, and takes no more', () => {
    table.add('1');
    table.close();
    table.add('2');
    expect(events).toEqual(['refuse 1', 'ended 1', 'refuse 2', 'ended 2']);
  });
});
