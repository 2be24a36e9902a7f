import {
  appendFileSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Log } from '@headgate/domain-contracts';
import { SmallDisk } from '@headgate/testing';
import type { Sample } from '../usage.js';
import { averageOf, maximumOf } from './history-row.js';
import { LEVELS, maxFiles, type StoredRange } from './levels.js';
import { UsageHistory } from './usage-history.js';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
/** The start of a step of each level, and of a file of each. */
const NOON = 6000 * 3 * DAY;
const DB = { ref: { kind: 'vm', context: 'lab', namespace: 'default', name: 'db' }, uid: 'u1' } as const;
const WEB = { ...DB, ref: { ...DB.ref, name: 'web' }, uid: 'u2' };

const sampleAt = (time: number, cpuMillicores: number | null, more: Partial<Sample> = {}): Sample => ({
  time,
  cpuMillicores,
  memoryUsedBytes: 2 ** 30,
  memoryTotalBytes: 4 * 2 ** 30,
  diskReadBytesPerSecond: 0,
  diskWriteBytesPerSecond: null,
  networkReceiveBytesPerSecond: null,
  networkTransmitBytesPerSecond: null,
  ...more,
});

describe('the usage history', () => {
  let folder: string;
  let now: number;
  let history: UsageHistory;
  let warnings: string[];
  let killed: UsageHistory[];

  const log = { info: () => undefined, error: () => undefined, debug: () => undefined, warn: (_fields: object, text: string) => void warnings.push(text) } as unknown as Log; // prettier-ignore
  const clock = { now: () => now };
  const openHistory = (minFreeBytes = 0): UsageHistory =>
    new UsageHistory({ folder: join(folder, 'history'), clock, log, minFreeBytes });
  /** As after a kill: the steps in memory are lost. */
  const kill = (): void => {
    killed.push(history);
    history = openHistory();
  };
  const restart = async (): Promise<void> => {
    await history.close();
    kill();
  };
  const moveTo = (time: number): void => void (now = time);
  const cpuOf = async (range: StoredRange, instance = DB as typeof DB | typeof WEB) =>
    (await history.read(instance, range)).map((row) => [
      (row.time - NOON) / MINUTE,
      averageOf(row).cpuMillicores,
      maximumOf(row).cpuMillicores,
    ]);
  /** Samples of each minute from one minute to another, both in minutes after noon. */
  const record = async (
    from: number,
    to: number,
    cpu: (minute: number) => number | null = () => 100,
    instance = DB,
  ) => {
    for (let minute = from; minute < to; minute++) {
      moveTo(NOON + minute * MINUTE);
      history.record(instance, sampleAt(now, cpu(minute)));
      await settle();
    }
  };
  const files = (): string[] => readdirSync(join(folder, 'history')).toSorted();
  const pathOf = (range: StoredRange): string =>
    join(
      folder,
      'history',
      files().find((name) => name.startsWith(range))!,
    );
  /** Until all steps that ended are written. */
  const settle = () => history.read(WEB, '24h');

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'headgate-history-'));
    now = NOON;
    warnings = [];
    killed = [];
    history = openHistory();
  });

  afterEach(async () => {
    for (const one of [...killed, history]) await one.close();
    rmSync(folder, { recursive: true });
  });

  test('has the average and the maximum of each step, of the one that has not ended too', async () => {
    await record(0, 8, (minute) => minute * 10);
    expect(await cpuOf('24h')).toEqual([
      [0, 10, 20],
      [3, 40, 50],
      [6, 65, 70],
    ]);
    expect(await cpuOf('7d')).toEqual([[0, 35, 70]]);
    expect(await cpuOf('30d')).toEqual([[0, 35, 70]]);
    const [row] = await history.read(DB, '24h');
    expect(averageOf(row!)).toEqual({ ...sampleAt(0, 10), time: undefined });
  });

  test('rolls the fine steps up into the coarse ones', async () => {
    await record(0, 130, (minute) => (minute < 60 ? 100 : minute === 61 ? 500 : 200));
    expect(await cpuOf('30d')).toEqual([
      [0, 100, 100],
      [60, 205, 500],
      [120, 200, 200],
    ]);
    expect((await cpuOf('7d')).slice(3, 6)).toEqual([
      [45, 100, 100],
      [60, 220, 500],
      [75, 200, 200],
    ]);
  });

  test('leaves a gap where there were no samples, and does not count unknown values', async () => {
    await record(0, 3, (minute) => (minute === 1 ? null : 50));
    await record(9, 10, () => null);
    expect(await cpuOf('24h')).toEqual([
      [0, 50, 50],
      [9, null, null],
    ]);
  });

  test('touches nothing before the first step has ended', async () => {
    await record(0, 3);
    expect(existsSync(join(folder, 'history'))).toBe(false);
    expect(await cpuOf('30d')).toEqual([[0, 100, 100]]);
    expect(existsSync(join(folder, 'history'))).toBe(false);
  });

  test('keeps every sample over a restart, in each range', async () => {
    await record(0, 61, (minute) => minute);
    const before = await Promise.all((['24h', '7d', '30d'] as const).map((range) => cpuOf(range)));
    await restart();
    expect(await Promise.all((['24h', '7d', '30d'] as const).map((range) => cpuOf(range)))).toEqual(before);
    await record(61, 75, (minute) => minute);
    expect((await cpuOf('30d')).at(-1)).toEqual([60, 67, 74]);
    expect((await cpuOf('24h'))[20]).toEqual([60, 61, 62]);
  });

  test('loses at most the step in memory to a kill', async () => {
    await record(0, 64, (minute) => minute);
    await settle();
    kill();
    expect((await cpuOf('24h')).at(-1)).toEqual([60, 61, 62]);
    expect(await cpuOf('30d')).toEqual([
      [0, 30, 59],
      [60, 61, 62],
    ]);
  });

  test('writes the coarse steps that ended while the service was down', async () => {
    await record(0, 40);
    await settle();
    kill();
    await record(200, 210, () => 300);
    expect(await cpuOf('30d')).toEqual([
      [0, 100, 100],
      [180, 300, 300],
    ]);
    await restart();
    expect(await cpuOf('30d')).toHaveLength(2);
  });

  test('drops the torn end of a write that a kill has interrupted, and continues after it', async () => {
    await record(0, 10, (minute) => minute * 10);
    await settle();
    const { size } = statSync(pathOf('24h'));
    truncateSync(pathOf('24h'), size - 5);
    kill();
    expect(await cpuOf('24h')).toEqual([
      [0, 10, 20],
      [3, 40, 50],
    ]);
    await record(12, 18, () => 7);
    expect((await cpuOf('24h')).map(([minute]) => minute)).toEqual([0, 3, 12, 15]);
    expect(warnings).toEqual(['a part of the usage history could not be read']);
  });

  test('reads the steps before a torn end, wherever it is', async () => {
    await record(0, 7);
    await settle();
    const bytes = readFileSync(pathOf('24h'));
    const [firstStep, secondStep] = [32 + 16 + 30, 2 * (32 + 30) + 16];
    expect(bytes).toHaveLength(secondStep);
    for (let length = bytes.length; length >= 0; length--) {
      writeFileSync(pathOf('24h'), bytes.subarray(0, length));
      kill();
      const steps = length === secondStep ? [0, 3] : length >= firstStep ? [0] : [];
      expect((await cpuOf('24h')).map(([minute]) => minute)).toEqual(steps);
    }
  });

  test('survives files with any content', async () => {
    await record(0, 130);
    await restart();
    for (const name of files()) writeFileSync(join(folder, 'history', name), 'no rows '.repeat(100));
    expect(await cpuOf('24h')).toEqual([]);
    expect(await cpuOf('30d')).toEqual([]);
    await record(130, 136, () => 9);
    expect(await cpuOf('24h')).toEqual([
      [129, 9, 9],
      [132, 9, 9],
      [135, 9, 9],
    ]);
    expect(new Set(warnings)).toEqual(new Set(['a part of the usage history could not be read']));
    expect(warnings).toHaveLength(3);
  });

  test('leaves out a row whose bytes were changed or lost', async () => {
    await record(0, 9);
    await settle();
    const bytes = readFileSync(pathOf('24h'));
    bytes.fill(0, bytes.length - 30);
    writeFileSync(pathOf('24h'), bytes);
    kill();
    expect((await cpuOf('24h')).map(([minute]) => minute)).toEqual([0]);
    // In the first row, after the header and the key.
    bytes[50]! ^= 1;
    writeFileSync(pathOf('24h'), bytes);
    expect(await cpuOf('24h')).toEqual([]);
  });

  test('has nothing of an instance of the same name, or of the same uid in another context', async () => {
    await record(0, 10);
    expect(await history.read({ ...DB, uid: 'another' }, '24h')).toEqual([]);
    expect(await history.read({ ...DB, ref: { ...DB.ref, context: 'other' } }, '24h')).toEqual([]);
    expect(await history.read(DB, '24h')).toHaveLength(4);
  });

  test('keeps the history of a moved instance over a restart, and of one that moved back', async () => {
    const moved = { ref: { ...DB.ref, context: 'other' }, uid: 'u9' };
    await record(0, 4, () => 1);
    history.carryOver(DB, moved);
    await record(4, 7, () => 2, moved as unknown as typeof DB);
    const expected = [
      [0, 1, 1],
      [3, 2, 2],
      [6, 2, 2],
    ];
    expect(await cpuOf('24h', moved as unknown as typeof DB)).toEqual(expected);
    await restart();
    appendFileSync(join(folder, 'history', 'carried'), 'half of a record');
    expect(await cpuOf('24h', moved as unknown as typeof DB)).toEqual(expected);
    history.carryOver(moved, DB);
    expect(await cpuOf('24h')).toEqual(expected);
  });

  test('continues after the clock was set back, and loses one file at most to a clock that was ahead', async () => {
    await record(0, 6);
    await record(-30, -24, () => 7);
    expect((await cpuOf('24h')).map(([minute]) => minute)).toEqual([-30, -27]);
    const years = 3650 * 24 * 60;
    await record(years, years + 6, () => 8);
    await record(6, 9, () => 9);
    await settle();
    expect(await cpuOf('24h')).toEqual([
      [-30, 7, 7],
      [-27, 7, 7],
      [0, 100, 100],
      [3, 100, 100],
      [6, 9, 9],
    ]);
  });

  test('bounds the files, and their size whatever the clock does', async () => {
    for (let hour = 0; hour < 40 * 24; hour++) {
      await record(hour * 60, hour * 60 + 1);
    }
    await settle();
    for (const level of LEVELS)
      expect(files().filter((name) => name.startsWith(level.range)).length).toBeLessThanOrEqual(maxFiles(level));
    expect(await cpuOf('30d')).toHaveLength(720);
    expect((await cpuOf('24h')).length).toBeLessThanOrEqual(24);
    for (let turn = 0; turn < 400; turn++) {
      await record(turn % 2 === 0 ? 0 : 100, turn % 2 === 0 ? 1 : 101);
      await settle();
    }
    const [frames, frameBytes] = [160, 32 + 30];
    expect(statSync(join(folder, 'history', `24h-${NOON}.rows`)).size).toBeLessThanOrEqual(frames * frameBytes + 16);
  });

  test('keeps 30 days but for one file when the clock is years ahead for a while', async () => {
    const days = 33;
    const until = async (fromHour: number, toHour: number, step = 60) => {
      for (let minute = fromHour * 60; minute < toHour * 60; minute += step) await record(minute, minute + 1);
    };
    await until(0, days * 24);
    expect(await cpuOf('30d')).toHaveLength(720);
    const before = files();
    const years = 3650 * 24;
    await until(days * 24 + years, days * 24 + years + 2);
    expect(files().filter((name) => !before.includes(name))).toHaveLength(1);
    await until(days * 24, days * 24 + 24 * 4);
    // Three days are one file of this range.
    expect((await cpuOf('30d')).length).toBeGreaterThanOrEqual(720 - 72);
    const latest = (range: StoredRange) =>
      Math.max(
        ...files()
          .flatMap((name) => new RegExp(`^${range}-(\\d+)`).exec(name)?.[1] ?? [])
          .map(Number),
      );
    for (const { range } of LEVELS) expect(latest(range)).toBeLessThan(NOON + (days + 5) * DAY);
  });

  test('writes fewer rows than there are samples, of all instances at one time', async () => {
    for (let minute = 0; minute < 9; minute++) {
      moveTo(NOON + minute * MINUTE);
      for (const instance of [DB, WEB]) history.record(instance, sampleAt(now, 10));
    }
    await settle();
    expect(statSync(pathOf('24h')).size).toBe(2 * 32 + 2 * 16 + 2 * 2 * 30);
    expect(statSync(pathOf('24h')).mode & 0o777).toBe(0o600);
    expect(await cpuOf('24h', WEB)).toHaveLength(3);
  });

  test('keeps the history of a container apart from that of a VM with its name and uid', async () => {
    const box = { ...DB, ref: { ...DB.ref, kind: 'ct' } } as unknown as typeof DB;
    await record(0, 9, () => 1, box);
    expect(await history.read(box, '24h')).toHaveLength(3);
    expect(await history.read(DB, '24h')).toEqual([]);
  });

  const isRoot = process.getuid?.() === 0;
  const onSmallDisk = isRoot ? test : test.skip; // Mounting one needs root.

  onSmallDisk('continues when a full disk has space again, without the steps in between', async () => {
    const disk = new SmallDisk(folder, 4);
    try {
      await record(0, 6);
      await settle();
      disk.fill();
      for (let index = 0; index < 400; index++)
        for (let minute = 6; minute < 9; minute++)
          history.record({ ...WEB, uid: `many-${index}` }, sampleAt(NOON + minute * MINUTE, 1));
      await record(9, 12, () => 2);
      await settle();
      expect(warnings).toEqual(['a part of the usage history was not written']);
      disk.empty();
      await record(12, 18, () => 3);
      expect(await cpuOf('24h')).toEqual([
        [0, 100, 100],
        [3, 100, 100],
        [9, 2, 2],
        [12, 3, 3],
        [15, 3, 3],
      ]);
      expect((await cpuOf('30d'))[0]?.[2]).toBe(100);
      await history.close();
    } finally {
      disk.unmount();
    }
  });

  onSmallDisk('leaves the last free space to the registry', async () => {
    const disk = new SmallDisk(folder, 8);
    try {
      history = openHistory(4 * 1024 ** 2);
      await record(0, 6);
      disk.fill(3 * 1024 ** 2);
      await record(6, 12);
      disk.empty();
      await record(12, 15);
      expect((await cpuOf('24h')).map(([minute]) => minute)).toEqual([0, 9, 12]);
      expect(warnings).toEqual(['a part of the usage history was not written']);
      await history.close();
    } finally {
      disk.unmount();
    }
  });

  test('a folder that can not be written costs the history only, with one line', async () => {
    writeFileSync(join(folder, 'history'), 'a file');
    await record(0, 30);
    expect(await history.read(DB, '7d')).not.toBeUndefined();
    expect((await cpuOf('24h')).at(-1)).toEqual([27, 100, 100]);
    expect(warnings).toEqual(['a part of the usage history was not written']);
    rmSync(join(folder, 'history'));
    await record(30, 36);
    await settle();
    expect(files().length).toBeGreaterThan(0);
  });
});
