import { jest } from '@jest/globals';
import { StreamWatch } from './stream-watch.js';

describe('StreamWatch', () => {
  const calls: string[] = [];
  let alive: boolean;
  let answer: () => Promise<unknown>;
  const call = (name: string) => (): void => void calls.push(name);
  const watch = new StreamWatch({
    alive: () => alive,
    broken: call('broken'),
    reopen: call('reopen'),
    pause: call('pause'),
    resume: call('resume'),
  });
  const hide = (hidden: boolean): void => {
    Object.defineProperty(document, 'hidden', { configurable: true, value: hidden });
    document.dispatchEvent(new Event('visibilitychange'));
  };

  beforeEach(() => {
    jest.useFakeTimers();
    calls.length = 0;
    alive = true;
    answer = () => Promise.resolve();
    Object.assign(globalThis, { fetch: () => answer() });
    AbortSignal.timeout ??= () => new AbortController().signal;
    watch.start();
  });
  afterEach(() => {
    watch.stop();
    hide(false);
    jest.useRealTimers();
  });

  test('leaves a stream alone whose service answers', async () => {
    await jest.advanceTimersByTimeAsync(120_000);
    expect(calls).toEqual([]);
  });

  test('tells that a stream which looks open is broken, once its service does not answer', async () => {
    answer = () => Promise.reject(new TypeError('Failed to fetch'));
    await jest.advanceTimersByTimeAsync(20_000);
    expect(calls).toEqual(['broken']);
  });

  test('asks for nothing while the stream is down anyway', async () => {
    alive = false;
    answer = () => Promise.reject(new Error('asked'));
    await jest.advanceTimersByTimeAsync(60_000);
    expect(calls).toEqual([]);
  });

  test('opens the stream anew after the machine slept', async () => {
    jest.setSystemTime(Date.now() + 3_600_000);
    await jest.advanceTimersByTimeAsync(20_000);
    expect(calls).toEqual(['reopen']);
  });

  test('gives the stream up after a minute out of sight, and has it back at once', async () => {
    hide(true);
    await jest.advanceTimersByTimeAsync(59_999);
    expect(calls).toEqual([]);
    await jest.advanceTimersByTimeAsync(1);
    expect(calls).toEqual(['pause']);
    hide(false);
    expect(calls).toEqual(['pause', 'resume']);
  });

  test('a short look into another tab costs nothing', async () => {
    hide(true);
    await jest.advanceTimersByTimeAsync(30_000);
    hide(false);
    await jest.advanceTimersByTimeAsync(60_000);
    expect(calls).toEqual(['resume']);
  });
});
