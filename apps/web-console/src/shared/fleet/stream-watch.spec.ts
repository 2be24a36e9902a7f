import { jest } from '@jest/globals';
import { StreamWatch } from './stream-watch.js';

describe('StreamWatch', () => {
  const calls: string[] = [];
  let alive: boolean;
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
    watch.start();
  });
  afterEach(() => {
    watch.stop();
    hide(false);
    jest.useRealTimers();
  });

  /** Events arrive every 15 seconds, as the service sends them at least. */
  const receiveFor = async (seconds: number): Promise<void> => {
    for (let passed = 0; passed < seconds; passed += 15) {
      await jest.advanceTimersByTimeAsync(15_000);
      watch.received();
    }
  };

  test('does nothing while events arrive', async () => {
    await receiveFor(120);
    expect(calls).toEqual([]);
  });

  test('reports an open stream as broken when nothing arrives', async () => {
    await jest.advanceTimersByTimeAsync(35_000);
    expect(calls).toEqual([]);
    await jest.advanceTimersByTimeAsync(5_000);
    expect(calls).toEqual(['broken']);
  });

  test('expects nothing while the stream is down', async () => {
    alive = false;
    await jest.advanceTimersByTimeAsync(60_000);
    expect(calls).toEqual([]);
  });

  test('reopens the stream after the machine was asleep', async () => {
    jest.setSystemTime(Date.now() + 3_600_000);
    await jest.advanceTimersByTimeAsync(5_000);
    expect(calls).toEqual(['reopen']);
  });

  test('pauses the stream after a minute in a hidden tab, and resumes it immediately', async () => {
    alive = false;
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
    alive = false;
    await jest.advanceTimersByTimeAsync(60_000);
    expect(calls).toEqual(['resume']);
  });
});
