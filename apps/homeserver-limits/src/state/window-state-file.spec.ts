import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { jest } from '@jest/globals';
import { ManualClock, type Rate, MemoryRateLimiter, type Reservation } from '@headgate/limits-core';
import { pino } from 'pino';
import { ObservedWindows } from './observed-windows.js';
import { WindowStateFile } from './window-state-file.js';

const log = pino({ level: 'silent' });
const TERMS = { limit: 5, windowMs: 60_000 };
/** The timer that removes closed windows. */
const SWEEPER = 1;
const nextTurn = () => new Promise((next) => setImmediate(next));

describe('WindowStateFile', () => {
  let folder: string;
  let windows: MemoryRateLimiter;
  let rate: Rate;
  let state: WindowStateFile;
  let store: ObservedWindows;
  let writes: jest.SpiedFunction<MemoryRateLimiter['snapshot']>;

  beforeEach(async () => {
    jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask', 'performance', 'Date'] });
    folder = await mkdtemp(join(tmpdir(), 'window-state-'));
    windows = new MemoryRateLimiter({ clock: new ManualClock() });
    rate = windows.define('login', TERMS);
    writes = jest.spyOn(windows, 'snapshot');
    state = new WindowStateFile(windows, folder, log);
    store = new ObservedWindows(windows, state.scheduleWrite);
    state.start();
  });
  afterEach(async () => {
    jest.useRealTimers();
    await state.stop();
    await rm(folder, { recursive: true });
  });

  /** The count that a server would restore now. */
  async function onDisk(): Promise<number> {
    const later = new MemoryRateLimiter({ clock: new ManualClock() });
    const same = later.define('login', TERMS);
    await new WindowStateFile(later, folder, log).restore();
    return later.peek(same, 'nora').counted;
  }

  async function until(met: () => boolean | Promise<boolean>, what: string): Promise<void> {
    const end = Date.now() + 20_000;
    while (!(await met())) {
      if (Date.now() > end) throw new Error(`timed out: ${what}`);
      await nextTurn();
    }
  }

  const written = (counted: number) => until(async () => (await onDisk()) === counted, `${counted} written`);

  /** A write ends shortly after its file has been renamed, and only then is the next one scheduled. */
  async function writtenInTime(counted: number): Promise<void> {
    const inTime = async () => {
      jest.advanceTimersByTime(5_000);
      return (await onDisk()) === counted;
    };
    await until(inTime, `${counted} written in time`);
  }

  async function writesAfter(ms: number): Promise<void> {
    const before = writes.mock.calls.length;
    jest.advanceTimersByTime(ms);
    await until(() => writes.mock.calls.length > before, 'a write begins');
  }

  async function writesNothingFor(ms: number): Promise<void> {
    const before = writes.mock.calls.length;
    jest.advanceTimersByTime(ms);
    for (let turns = 0; turns < 100; turns++) await nextTurn();
    expect(writes).toHaveBeenCalledTimes(before);
  }

  test('writes a change after 100 ms', async () => {
    await store.count(rate, 'nora');
    await writesNothingFor(99);
    await writesAfter(1);
    await written(1);
  });

  test('writes nothing without a change, and a refusal is not a change', async () => {
    for (let i = 0; i < 5; i++) await store.count(rate, 'nora');
    await writesAfter(100);
    await written(5);
    expect(await store.count(rate, 'nora')).toMatchObject({ granted: false });
    await writesNothingFor(600_000);
  });

  test('writes a change that comes during a write', async () => {
    await store.count(rate, 'nora');
    await writesAfter(100);
    await store.count(rate, 'nora');
    await writtenInTime(2);
  });

  test('writes the outcome of a reservation, and a reset', async () => {
    for (let i = 0; i < 3; i++) await store.count(rate, 'nora');
    const reservation = (await store.reserve([{ rate, key: 'nora' }])) as Reservation;
    await writtenInTime(4);
    await reservation.reset();
    await writtenInTime(0);
    await store.count(rate, 'nora');
    await writtenInTime(1);
    await store.reset(rate, 'nora');
    await writtenInTime(0);
  });

  test('waits longer after a slow write, but five seconds at most', async () => {
    writes.mockImplementation(function* (at) {
      const end = performance.now() + 300;
      while (performance.now() < end);
      yield* MemoryRateLimiter.prototype.snapshot.call(windows, at);
    });
    await store.count(rate, 'nora');
    await writesAfter(100);
    await written(1);
    await store.count(rate, 'nora');
    await until(() => jest.getTimerCount() === SWEEPER + 1, 'the next write is scheduled');
    await writesNothingFor(4_999);
    await writesAfter(1);
    await written(2);
  });

  test('retries when the file could not be written', async () => {
    await rm(folder, { recursive: true });
    const failed = jest.spyOn(log, 'error');
    await store.count(rate, 'nora');
    jest.advanceTimersByTime(100);
    await until(() => failed.mock.calls.length === 1, 'the failure is logged');
    await mkdir(folder);
    await writtenInTime(1);
  });

  test('writes when it stops, and not after that', async () => {
    await store.count(rate, 'nora');
    await state.stop();
    expect(await onDisk()).toBe(1);
    await store.count(rate, 'nora');
    await writesNothingFor(600_000);
  });
});
