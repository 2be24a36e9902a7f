import { FixedClock } from '@headgate/testing';
import { ChangeFeed } from './change-feed.js';
import { FeedView } from './feed-view.js';

const INTERVAL_MS = 100;

describe('ChangeFeed', () => {
  let clock: FixedClock;
  let feed: ChangeFeed<string>;

  beforeEach(() => {
    clock = new FixedClock();
    feed = new ChangeFeed({
      clock,
      intervalMs: INTERVAL_MS,
      firstIntervalMs: INTERVAL_MS,
      maxKeys: 10,
      serialize: (states, position) => Buffer.from(`${states.join('')}#${position}`),
    });
  });

  const push = (...changes: string[]): void => {
    for (const change of changes) feed.push(change[0]!, change);
  };
  const read = (position: number): string => {
    const batch = feed.since(position);
    return batch === undefined || batch === 'expired' ? String(batch) : batch.bytes.toString();
  };

  test('publishes the first change of a quiet period immediately, and later ones once per interval', () => {
    const published: number[] = [];
    feed.subscribe(() => published.push(feed.position));
    push('a1', 'b1');
    clock.advance(0);
    expect(published).toEqual([2]);
    push('a2');
    clock.advance(INTERVAL_MS - 1);
    push('a3');
    expect(published).toEqual([2]);
    clock.advance(1);
    expect(published).toEqual([2, 4]);
  });

  test('contains only the latest state of each key, in the order of the changes', () => {
    push('a1', 'b1', 'a2', 'c1', 'a3');
    clock.advance(0);
    expect(read(0)).toBe('b1c1a3#5');
    expect(read(3)).toBe('c1a3#5');
    expect(read(5)).toBe('undefined');
  });

  test('publishes nothing early: a reader does not see changes of the running interval', () => {
    push('a1');
    clock.advance(0);
    push('a2', 'b1');
    expect(read(1)).toBe('undefined');
    expect(read(0)).toBe('a1#1');
  });

  test('gives readers at the same position the same bytes', () => {
    push('a1', 'b1');
    clock.advance(0);
    const [first, slow, again] = [feed.since(0), feed.since(1), feed.since(0)];
    expect(again).toBe(first);
    expect(slow).not.toBe(first);
  });

  test('lets a reader that missed many intervals continue with the latest states', () => {
    push('a0');
    clock.advance(0);
    for (let round = 1; round <= 7; round++) {
      push(`a${round}`, `b${round}`);
      clock.advance(INTERVAL_MS);
    }
    expect(read(1)).toBe('a7b7#15');
  });

  test('keeps a bounded number of keys and reports an expired position', () => {
    for (let index = 0; index < 26; index++) {
      feed.push(`key-${index}`, `${index},`);
      clock.advance(INTERVAL_MS);
    }
    expect(feed.since(0)).toBe('expired');
    expect(read(25)).toBe('25,#26');
    expect(feed.since(27)).toBe('expired');
  });

  test('never loses the last state of a key among many superseded ones', () => {
    for (let round = 0; round < 200; round++) {
      push(`a${round}`, `b${round}`);
      if (round % 7 === 0) clock.advance(INTERVAL_MS);
    }
    clock.advance(INTERVAL_MS);
    expect(read(0)).toBe('a199b199#400');
  });

  test('serializes a batch once, and only when a reader asks for it', () => {
    let count = 0;
    feed = new ChangeFeed({ clock, intervalMs: INTERVAL_MS, serialize: () => Buffer.from(String(++count)) });
    push('a1', 'b1');
    clock.advance(0);
    push('a2');
    clock.advance(INTERVAL_MS);
    expect(count).toBe(0);
    for (let reader = 0; reader < 3; reader++) feed.since(2);
    expect(count).toBe(1);
  });

  test('gives a slow reader the published state of a key that has changed again since then', () => {
    push('a1', 'b1');
    clock.advance(0);
    push('a2');
    clock.advance(INTERVAL_MS);
    push('a3', 'a4');
    expect(read(0)).toBe('b1a2#3');
    clock.advance(INTERVAL_MS);
    expect(read(0)).toBe('b1a4#5');
    expect(read(3)).toBe('a4#5');
  });

  test('calls no reader after it is closed', () => {
    const listener = (): never => {
      throw new Error('called');
    };
    feed.subscribe(listener);
    push('a1');
    feed.close();
    clock.advance(INTERVAL_MS);
    expect(clock.pending).toBe(0);
  });

  test('publishes a change that follows another one within 40 ms, and not only after the interval', () => {
    const published = timesOf(new ChangeFeed({ clock, serialize: () => Buffer.alloc(0) }));
    published.feed.push('a', 'busy');
    clock.advance(15);
    published.feed.push('a', 'started');
    clock.advance(25);
    expect(published.atMs).toEqual([0, 40]);
    clock.advance(300);
    published.feed.push('a', 'stopped');
    clock.advance(0);
    expect(published.atMs).toEqual([0, 40, 340]);
  });

  test('gathers the changes of a burst: the time between batches doubles up to the interval', () => {
    const published = timesOf(new ChangeFeed({ clock, serialize: () => Buffer.alloc(0) }));
    for (let passedMs = 0; passedMs <= 1100; passedMs += 10) {
      published.feed.push(`key-${passedMs}`, 'changed');
      clock.advance(10);
    }
    expect(published.atMs).toEqual([0, 40, 120, 280, 530, 780, 1030]);
  });

  test('gathers changes that are further apart than the shortest time between batches', () => {
    const published = timesOf(new ChangeFeed({ clock, serialize: () => Buffer.alloc(0) }));
    for (let passedMs = 0; passedMs <= 1200; passedMs += 60) {
      published.feed.push('a', 'changed');
      clock.advance(60);
    }
    expect(published.atMs).toEqual([0, 60, 140, 300, 550, 800, 1050]);
  });

  test('gives the readers of a view its states only, at the positions of the feed', () => {
    const numbers = (states: readonly string[], position: number): Buffer =>
      Buffer.from(`${states.join('')}#${position}`);
    const view = new FeedView(feed, numbers, (state) => state.startsWith('a'));
    const readView = (position: number): string => {
      const batch = view.since(position);
      return batch === undefined || batch === 'expired' ? String(batch) : batch.bytes.toString();
    };
    push('a1', 'b1');
    clock.advance(0);
    expect(readView(0)).toBe('a1#2');
    expect(view.since(0)).toBe(view.since(0));
    push('b2');
    clock.advance(INTERVAL_MS);
    expect(readView(2)).toBe('');
    expect(view.position).toBe(3);
    expect([readView(3), readView(4)]).toEqual(['undefined', 'expired']);
    expect(readView(0)).toBe('a1#3');
  });

  /** The times of the publications of a feed, in milliseconds from now. */
  function timesOf(of: ChangeFeed<string>): { readonly feed: ChangeFeed<string>; readonly atMs: number[] } {
    const startMs = clock.now();
    const atMs: number[] = [];
    of.subscribe(() => atMs.push(clock.now() - startMs));
    return { feed: of, atMs };
  }
});
