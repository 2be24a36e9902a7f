import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type DelayedEvents, DelaysInMemory } from './delayed-events.js';
import { removeSharedDelays, SharedDelays } from './shared-delays.js';

const LIFETIME_MS = 25 * 60 * 1000;

describe.each(['in memory', 'shared by two workers'])('delayed events %s', (kind) => {
  let nowMs: number;
  let folder: string;
  /** Two views of the same events. */
  let one: DelayedEvents;
  let two: DelayedEvents;

  beforeEach(() => {
    nowMs = 1_000;
    folder = mkdtempSync(join(tmpdir(), 'headgate-delays-'));
    const now = () => nowMs;
    one = kind === 'in memory' ? new DelaysInMemory(now) : new SharedDelays(folder, now);
    two = kind === 'in memory' ? one : new SharedDelays(folder, now);
  });
  afterEach(() => {
    one.close();
    two.close();
    rmSync(folder, { recursive: true });
  });

  test('counts those of a holder that are not due', () => {
    one.add('@a !r', 'd1', 100);
    two.add('@a !r', 'd2', 200);
    two.add('@b !r', 'd3', 200);
    expect([one.count('@a !r'), two.count('@a !r'), one.count('@c !r')]).toEqual([2, 2, 0]);
    nowMs += 100;
    expect(two.count('@a !r')).toBe(1);
  });

  test('restarts and ends an event, once, with its holder', () => {
    one.add('@a !r', 'd1', 100);
    nowMs += 60;
    two.restart('d1');
    nowMs += 60;
    expect(one.count('@a !r')).toBe(1);
    expect([two.end('d1'), one.end('d1'), one.count('@a !r')]).toEqual(['@a !r', undefined, 0]);
    one.restart('unknown');
  });

  test('remembers a transaction for less time than the upstream', () => {
    one.rememberTransaction('t');
    nowMs += LIFETIME_MS - 1;
    expect([one.hasTransaction('t'), two.hasTransaction('t'), two.hasTransaction('u')]).toEqual([true, true, false]);
    nowMs += 1;
    expect(two.hasTransaction('t')).toBe(false);
  });
});

describe('SharedDelays', () => {
  let folder: string;
  beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'headgate-delays-'))));
  afterEach(() => rmSync(folder, { recursive: true }));

  test('keeps a number of events, the latest', () => {
    const delays = new SharedDelays(folder, () => 0, 100);
    for (let i = 0; i < 512; i++) delays.add('@a !r', `d${i}`, 1_000 + i);
    expect(delays.count('@a !r')).toBe(100);
    expect(delays.end('d511')).toBe('@a !r');
    delays.close();
  });

  test('begins without those of the last run', () => {
    const before = new SharedDelays(folder);
    before.add('@a !r', 'd', 1e9);
    before.close();
    removeSharedDelays(folder);
    const after = new SharedDelays(folder);
    expect(after.count('@a !r')).toBe(0);
    after.close();
  });
});
