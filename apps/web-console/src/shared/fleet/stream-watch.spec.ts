import { jest } from '@jest/globals';
import { StreamWatch } from './stream-watch.js';

describe('StreamWatch', () => {
  const calls: string[] = [];
  let alive: boolean;
  let respond: () => Promise<unknown>;
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
    respond = () => Promise.resolve();
    Object.assign(globalThis, { fetch: () => respond() });
    AbortSignal.timeout ??= () => new AbortController().signal;
    watch.start();
  });
  afterEach(() => {
    watch.stop();
    hide(false);
    jest.useRealTimers();
  });

  test('does nothing while the service responds', async () => {
    await jest.advanceTimersByTimeAsync(120_000);
    expect(calls).toEqual([]);
  });

  test('reports an open stream as broken when the service does not respond', async () => {
    respond = () => Promise.reject(new TypeError('Failed to fetch'));
    await jest.advanceTimersByTimeAsync(20_000);
    expect(calls).toEqual(['broken']);
  });

  test('does not probe while the stream is down', async () => {
    alive = false;
    respond = () => Promise.reject(new Error('probed'));
    await jest.advanceTimersByTimeAsync(60_000);
    expect(calls).toEqual([]);
  });

  test('reopens the stream after the machine was asleep', async () => {
    jest.setSystemTime(Date.now() + 3_600_000);
    await jest.advanceTimersByTimeAsync(20_000);
    expect(calls).toEqual(['reopen']);
  });

  test('pauses the stream after a minute in a hidden tab, and resumes it immediately', async () => {
    hide(true);
    await jest.advanceTimersByTimeAsync(59_999);
    expect(calls).toEqual([]);
    await jest.advanceTimersByTimeAsync(1);
    expect(calls).toEqual(['pause']);
    hide(false);
    expect(calls).toEqual(['pause', 'resume']);
  });

  test('keeps the stream during a short visit to another tab', async () => {
    hide(true);
    await jest.advanceTimersByTimeAsync(30_000);
    hide(false);
    await jest.advanceTimersByTimeAsync(60_000);
    expect(calls).toEqual(['resume']);
  });
});
