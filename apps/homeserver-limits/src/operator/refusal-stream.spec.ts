import { EventEmitter } from 'node:events';
import type { ServerResponse } from 'node:http';
import { RefusalLog } from '../reports/refusal-log.js';
import { RefusalStream } from './refusal-stream.js';

/** A response that collects its text; its reader takes nothing off the socket. */
class FakeResponse extends EventEmitter {
  text = '';
  isDestroyed = false;
  writableLength = 0;

  writeHead(): this {
    return this;
  }

  write(text: string): boolean {
    this.text += text;
    return true;
  }

  destroy(): void {
    this.isDestroyed = true;
    this.emit('close');
  }

  /** The events, each with its refused keys and the number of those that were left out. */
  get events(): { keys: string[]; skipped: number }[] {
    return this.text
      .split('\n\n')
      .filter((part) => part.startsWith('data: '))
      .map((part) => JSON.parse(part.slice(6)) as { refusals: { key: string }[]; skipped: number })
      .map(({ refusals, skipped }) => ({ keys: refusals.map(({ key }) => key), skipped }));
  }
}

describe('RefusalStream', () => {
  let log: RefusalLog;
  let stream: RefusalStream;
  let nowMs: number;
  beforeEach(() => {
    nowMs = 0;
    log = new RefusalLog({ info: () => undefined }, () => false);
    stream = new RefusalStream(log, () => nowMs);
  });
  afterEach(() => stream.close());
  const refuse = (...keys: string[]) => keys.forEach((key) => log.cap('pushers', { key }));
  const add = (): FakeResponse => {
    const response = new FakeResponse();
    stream.add(response as unknown as ServerResponse);
    return response;
  };

  test('begins with the latest refusals, and continues with new ones, the oldest first', () => {
    refuse('a', 'b');
    const response = add();
    stream.sendAll();
    refuse('c', 'd');
    stream.sendAll();
    expect(response.events).toEqual([
      { keys: ['a', 'b'], skipped: 0 },
      { keys: ['c', 'd'], skipped: 0 },
    ]);
  });

  test('sends the latest of a flood, and the number of the others', () => {
    const response = add();
    for (let i = 0; i < 10_000; i++) refuse(`k${i}`);
    stream.sendAll();
    const [event] = response.events;
    expect([event?.keys.length, event?.keys.at(-1), event?.skipped]).toEqual([50, 'k9999', 9_950]);
  });

  test('drops a reader that takes nothing, and keeps the others', () => {
    const [slow, fast] = [add(), add()];
    slow.writableLength = 300 * 1024;
    refuse('a');
    stream.sendAll();
    expect([slow.isDestroyed, slow.events, fast.events.length, stream.count]).toEqual([true, [], 1, 1]);
  });

  test('has a bounded number of readers, and gives a place back', () => {
    const readers = Array.from({ length: 16 }, add);
    expect(stream.isFull).toBe(true);
    readers[0]?.destroy();
    expect([stream.isFull, stream.count]).toEqual([false, 15]);
  });

  test('keeps a quiet connection open with comments', () => {
    const response = add();
    stream.sendAll();
    const { length } = response.text;
    nowMs = 15_000;
    stream.sendAll();
    expect(response.text.slice(length)).toBe(':\n\n');
  });
});
