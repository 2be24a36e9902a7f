import { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';
import { jest } from '@jest/globals';
import { ConnectionOpener } from './connection-opener.js';
import { UpstreamBusy, UpstreamTimeout } from './upstream-errors.js';

/** A connection that opens or fails when a test says so. */
class FakeSocket extends EventEmitter {
  connecting = true;
  destroyed = false;

  open(): void {
    this.connecting = false;
    this.emit('connect');
  }

  fail(error: Error): void {
    this.emit('error', error);
    this.emit('close');
  }

  destroy(): void {
    this.destroyed = true;
  }
}

interface Waiter {
  readonly name: string;
}

describe('ConnectionOpener', () => {
  let dialed: FakeSocket[];
  let log: string[];
  let spared: number;
  let opener: ConnectionOpener<Waiter>;

  beforeEach(() => {
    jest.useFakeTimers({ doNotFake: ['queueMicrotask', 'nextTick'] });
    [dialed, log, spared] = [[], [], 0];
    opener = create();
  });
  afterEach(() => {
    opener.close();
    expect(jest.getTimerCount()).toBe(0);
    jest.useRealTimers();
  });

  const create = () =>
    new ConnectionOpener<Waiter>({
      dial: () => {
        const socket = new FakeSocket();
        dialed.push(socket);
        return socket as unknown as Socket;
      },
      openEvent: 'connect',
      deliver: ({ name }) => void log.push(name),
      reject: ({ name }, error) => void log.push(`${name}: ${error.name}`),
      spare: () => void spared++,
      maxOpening: 3,
      maxWaiting: 6,
      connectTimeoutMs: 10_000,
    });
  const waiter = (name: string): Waiter => ({ name });
  const enter = (count: number, limitMs = 60_000) => {
    for (let i = 1; i <= count; i++) opener.open(waiter(`w${i}`), limitMs);
  };
  const live = () => dialed.filter(({ destroyed, connecting }) => connecting && !destroyed);

  test('opens a few connections at a time, and serves the waiters in order', () => {
    enter(5);
    expect([dialed.length, opener.waitingCount, opener.openingCount]).toEqual([3, 5, 3]);
    dialed[1]?.open();
    expect(log).toEqual(['w1']);
    expect([dialed.length, opener.waitingCount, opener.openingCount]).toEqual([4, 4, 3]);
    for (const socket of live()) socket.open();
    expect(log).toEqual(['w1', 'w2', 'w3', 'w4']);
    live()[0]?.open();
    expect([dialed.length, opener.waitingCount, opener.openingCount]).toEqual([5, 0, 0]);
  });

  test('keeps a connection for later if its waiter was served by another one', () => {
    enter(1);
    expect(opener.next(() => false)).toBeUndefined();
    expect(opener.next(() => true)?.name).toBe('w1');
    dialed[0]?.open();
    expect([log, spared]).toEqual([[], 1]);
  });

  test('opens no connection for a waiter that is gone', () => {
    const gone = waiter('gone');
    opener.open(gone, 60_000);
    opener.cancel(gone);
    dialed[0]?.fail(new Error('refused'));
    expect([log, dialed.length]).toEqual([[], 1]);
  });

  test('fails one waiter per connection that is refused, and tries for the next', () => {
    enter(4);
    dialed[0]?.fail(Object.assign(new Error('refused'), { name: 'ECONNREFUSED' }));
    expect(log).toEqual(['w1: ECONNREFUSED']);
    expect([opener.waitingCount, opener.openingCount]).toEqual([3, 3]);
  });

  test('rejects those who wait when the upstream accepts no connection for 10 s', () => {
    enter(5);
    jest.advanceTimersByTime(9_900);
    expect(log).toEqual([]);
    jest.advanceTimersByTime(200);
    expect(log).toEqual(['w1', 'w2', 'w3', 'w4', 'w5'].map((name) => `${name}: UpstreamTimeout`));
    expect(new UpstreamTimeout().name).toBe('UpstreamTimeout');
  });

  test('lets requests wait for longer as long as the upstream accepts connections', () => {
    enter(5);
    for (let i = 1; i <= 5; i++) {
      jest.advanceTimersByTime(7_000);
      live()[0]?.open();
    }
    expect(log).toEqual(['w1', 'w2', 'w3', 'w4', 'w5']);
  });

  test('rejects a request that has waited as long as it may, although others are served', () => {
    opener.open(waiter('patient'), 60_000);
    opener.open(waiter('other'), 60_000);
    opener.open(waiter('hasty'), 1_000);
    jest.advanceTimersByTime(500);
    live()[0]?.open();
    jest.advanceTimersByTime(600);
    expect(log).toEqual(['patient', 'hasty: UpstreamTimeout']);
  });

  test('replaces an attempt that is lost, later each time until a connection opens', () => {
    enter(1);
    const dialsAfter = (ms: number) => {
      jest.advanceTimersByTime(ms);
      return dialed.length;
    };
    expect(dialsAfter(200)).toBe(1);
    expect(dialsAfter(100)).toBe(2);
    expect(dialed[0]?.destroyed).toBe(true);
    // An error of the abandoned connection concerns no waiter.
    dialed[0]?.fail(new Error('aborted'));
    expect(log).toEqual([]);
    expect(dialsAfter(400)).toBe(2);
    expect(dialsAfter(100)).toBe(3);
    expect(opener.openingCount).toBe(1);
    live()[0]?.open();
    expect(log).toEqual(['w1']);
    enter(1);
    expect(dialsAfter(300)).toBe(5);
  });

  test('gives a handshake of TLS its time', () => {
    enter(1);
    const [socket] = dialed;
    if (socket) socket.connecting = false;
    jest.advanceTimersByTime(5_000);
    expect([dialed.length, socket?.destroyed]).toEqual([1, false]);
  });

  test('refuses requests when too many wait', async () => {
    enter(8);
    expect(log).toEqual([]);
    await Promise.resolve();
    expect(log).toEqual(['w7: UpstreamBusy', 'w8: UpstreamBusy']);
    expect(new UpstreamBusy().name).toBe('UpstreamBusy');
    expect(opener.waitingCount).toBe(6);
  });

  test('ends every attempt and every wait when it is closed', async () => {
    enter(4);
    opener.close();
    expect(dialed.map(({ destroyed }) => destroyed)).toEqual([true, true, true]);
    expect(log).toHaveLength(4);
    enter(1);
    await Promise.resolve();
    expect([dialed.length, log.at(-1)]).toEqual([3, 'w1: UpstreamBusy']);
  });
});
