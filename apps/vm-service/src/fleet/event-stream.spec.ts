import { EventEmitter } from 'node:events';
import { ChangeFeed } from '@headgate/fleet';
import { FixedClock } from '@headgate/testing';
import { EventStream, type EventStreamDeps } from './event-stream.js';

const INTERVAL_MS = 100;

/** A socket whose client reads only when the test says so. */
class SlowSocket extends EventEmitter {
  written = '';
  destroyed = false;
  ended = false;
  writableNeedDrain = false;
  isReading = true;

  write(chunk: Buffer): boolean {
    this.written += chunk.toString();
    this.writableNeedDrain = !this.isReading;
    return this.isReading;
  }

  drain(): void {
    this.isReading = true;
    this.writableNeedDrain = false;
    this.emit('drain');
  }

  cork(): void {}
  uncork(): void {}
  end(): void {
    this.ended = true;
  }
  destroy(): void {
    this.destroyed = true;
  }
}

describe('EventStream', () => {
  let clock: FixedClock;
  let feed: ChangeFeed<string>;
  let out: SlowSocket;
  let snapshots: number[];

  beforeEach(() => {
    clock = new FixedClock();
    feed = new ChangeFeed({
      clock,
      intervalMs: INTERVAL_MS,
      maxKeys: 5,
      serialize: (states) => Buffer.from(states.join('')),
    });
    out = new SlowSocket();
    snapshots = [];
  });

  const open = (resumeFrom?: number): EventStream => {
    const snapshot = (position: number): readonly Buffer[] => {
      snapshots.push(position);
      return [Buffer.from('[snapshot]')];
    };
    const stream = new EventStream({
      out: out as unknown as EventStreamDeps['out'],
      feed,
      clock,
      snapshot,
      resumeFrom,
    });
    stream.start([Buffer.from('[status]')]);
    return stream;
  };
  const change = (text: string): void => {
    feed.push(text[0]!, text);
    clock.advance(INTERVAL_MS);
  };

  test('sends the first events, a snapshot, and then each batch', () => {
    open();
    change('a1');
    change('b1');
    expect(out.written).toBe('[status][snapshot]a1b1');
  });

  test('continues from a known position without a snapshot', () => {
    change('a1');
    change('b1');
    change('c1');
    open(1);
    expect(out.written).toBe('[status]b1c1');
    expect(snapshots).toEqual([]);
  });

  test.each([
    ['a position that is no longer known', 0],
    ['a position from the future', 99],
  ])('sends a snapshot for %s', (_title, position) => {
    for (let index = 0; index < 30; index++) change(`${String.fromCharCode(97 + index)}`);
    open(position);
    expect(out.written).toBe('[status][snapshot]');
  });

  test('writes nothing to a client that does not read, and then only the latest states', () => {
    open();
    out.isReading = false;
    change('a1');
    const before = out.written;
    change('a2');
    change('b1');
    change('a3');
    expect(out.written).toBe(before);
    out.drain();
    expect(out.written).toBe(`${before}b1a3`);
  });

  test('sends a slow client a new snapshot when its position has expired', () => {
    open();
    out.isReading = false;
    change('a1');
    for (let index = 0; index < 30; index++) change(`${String.fromCharCode(98 + index)}`);
    out.drain();
    expect(snapshots).toEqual([0, 31]);
  });

  test('disconnects a client that reads nothing for a minute', () => {
    const stream = open();
    out.isReading = false;
    change('a1');
    stream.beat();
    expect(out.written).not.toContain(':');
    clock.advance(59_000);
    expect(out.destroyed).toBe(false);
    clock.advance(1_000);
    expect(out.destroyed).toBe(true);
  });

  test('follows nothing after it has ended', () => {
    open().end();
    change('a1');
    expect([out.ended, out.written]).toEqual([true, '[status][snapshot]']);
    expect(clock.pending).toBe(0);
  });
});
