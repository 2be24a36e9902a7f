import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { jest } from '@jest/globals';
import { ManualClock, type Rate, MemoryRateLimiter, type Reservation } from '@headgate/limits-core';
import { pino } from 'pino';
import { NoticedWindows } from './noticed-windows.js';
import { WindowStateFile } from './window-state-file.js';

const log = pino({ level: 'silent' });
const TERMS = { limit: 5, windowMs: 60_000 };
/** The timer that clears closed windows away. */
const SWEEPER = 1;
const turn = () => new Promise((next) => setImmediate(next));

describe('WindowStateFile', () => {
  let folder: string;
  let windows: MemoryRateLimiter;
  let rate: Rate;
  let state: WindowStateFile;
  let store: NoticedWindows;
  let writings: jest.SpiedFunction<MemoryRateLimiter['snapshot']>;

  beforeEach(async () => {
    jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask', 'performance', 'Date'] });
    folder = await mkdtemp(join(tmpdir(), 'window-state-'));
    windows = new MemoryRateLimiter({ clock: new ManualClock() });
    rate = windows.define('login', TERMS);
    writings = jest.spyOn(windows, 'snapshot');
    state = new WindowStateFile(windows, folder, log);
    store = new NoticedWindows(windows, state.changed);
    state.start();
  });
  afterEach(async () => {
    jest.useRealTimers();
    await state.stop();
    await rm(folder, { recursive: true });
  });

  /** What a server that starts now would know. */
  async function onDisk(): Promise<number> {
    const later = new MemoryRateLimiter({ clock: new ManualClock() });
    const same = later.define('login', TERMS);
    await new WindowStateFile(later, folder, log).restore();
    return later.peek(same, 'nora').counted;
  }

  async function until(met: () => boolean | Promise<boolean>, what: string): Promise<void> {
    const end = Date.now() + 20_000;
    while (!(await met())) {
      if (Date.now() > end) throw new Error(`${what}: that never happened`);
      await turn();
    }
  }

  const written = (counted: number) => until(async () => (await onDisk()) === counted, `${counted} written`);

  /** A writing ends a moment after its file has its name; then the next has its time. */
  async function writtenInTime(counted: number): Promise<void> {
    const inTime = async () => {
      jest.advanceTimersByTime(5_000);
      return (await onDisk()) === counted;
    };
    await until(inTime, `${counted} written in time`);
  }

  async function writesAfter(ms: number): Promise<void> {
    const before = writings.mock.calls.length;
    jest.advanceTimersByTime(ms);
    await until(() => writings.mock.calls.length > before, 'a writing begins');
  }

  async function writesNothingFor(ms: number): Promise<void> {
    const before = writings.mock.calls.length;
    jest.advanceTimersByTime(ms);
    for (let turns = 0; turns < 100; turns++) await turn();
    expect(writings).toHaveBeenCalledTimes(before);
  }

  test('writes a change after a tenth of a second', async () => {
    await store.count(rate, 'nora');
    await writesNothingFor(99);
    await writesAfter(1);
    await written(1);
  });

  test('writes nothing while nothing changes, and a refusal changes nothing', async () => {
    for (let i = 0; i < 5; i++) await store.count(rate, 'nora');
    await writesAfter(100);
    await written(5);
    expect(await store.count(rate, 'nora')).toMatchObject({ granted: false });
    await writesNothingFor(600_000);
  });

  test('writes what changes while it is writing', async () => {
    await store.count(rate, 'nora');
    await writesAfter(100);
    await store.count(rate, 'nora');
    await writtenInTime(2);
  });

  test('writes how a reservation ended, and what was forgiven', async () => {
    for (let i = 0; i < 3; i++) await store.count(rate, 'nora');
    const taken = (await store.reserve([{ rate, key: 'nora' }])) as Reservation;
    await writtenInTime(4);
    await taken.reset();
    await writtenInTime(0);
    await store.count(rate, 'nora');
    await writtenInTime(1);
    await store.reset(rate, 'nora');
    await writtenInTime(0);
  });

  test('rests the longer the slower the writing was, but five seconds at most', async () => {
    writings.mockImplementation(function* (at) {
      const end = performance.now() + 300;
      while (performance.now() < end);
      yield* MemoryRateLimiter.prototype.snapshot.call(windows, at);
    });
    await store.count(rate, 'nora');
    await writesAfter(100);
    await written(1);
    await store.count(rate, 'nora');
    await until(() => jest.getTimerCount() === SWEEPER + 1, 'the next writing has its time');
    await writesNothingFor(4_999);
    await writesAfter(1);
    await written(2);
  });

  test('tries again when the file could not be written', async () => {
    await rm(folder, { recursive: true });
    const failed = jest.spyOn(log, 'error');
    await store.count(rate, 'nora');
    jest.advanceTimersByTime(100);
    await until(() => failed.mock.calls.length === 1, 'it says that it could not');
    await mkdir(folder);
    await writtenInTime(1);
  });

  test('writes at the end, and not after it', async () => {
    await store.count(rate, 'nora');
    await state.stop();
    expect(await onDisk()).toBe(1);
    await store.count(rate, 'nora');
    await writesNothingFor(600_000);
  });
});
