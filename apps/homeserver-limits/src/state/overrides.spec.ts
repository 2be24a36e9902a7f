import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { RuleEngine, ruleOf } from '@headgate/limit-rules';
import { MemoryRateLimiter } from '@headgate/limits-core';
import { type Override, readOverride } from './override.js';
import { Overrides } from './overrides.js';

const NOW = Date.parse('2030-01-01T00:00:00Z');
const HOUR_MS = 3_600_000;
const USER = '@bot:b.example';
const RULES = [
  ruleOf({ name: 'messages', on: ['message'], by: 'user', limit: 10, windowMs: HOUR_MS }),
  ruleOf({ name: 'joins', on: ['join'], by: 'room', limit: 4, windowMs: HOUR_MS, algorithm: 'gcra' }),
  ruleOf({ name: 'volume', on: ['upload'], by: 'user', limit: 5_000_000, windowMs: HOUR_MS, unit: 'bytes' }),
  ruleOf({ name: 'all', on: ['message'], by: 'server', limit: 100, windowMs: HOUR_MS, shadow: true }),
];
const override = (more: Partial<Override> = {}): Override => ({
  rule: 'messages',
  key: USER,
  ...(more.limit === undefined && { factor: 2 }),
  untilMs: NOW + HOUR_MS,
  reason: 'a bot',
  ...more,
});

describe('Overrides', () => {
  let folder: string;
  let nowMs: number;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'overrides-'));
    nowMs = NOW;
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  const open = (isWritable = true) => new Overrides({ dataDir: folder, isWritable, now: () => nowMs });
  const limitOf = (overrides: Overrides, name: string, key = USER) =>
    overrides.limitOf(
      RULES.find((rule) => rule.name === name)!,
      key,
    );

  test('change the limit of one key of one rule, or of every rule by user or room, until they end', () => {
    const overrides = open();
    overrides.set(override());
    overrides.set(override({ rule: '*', key: USER, factor: 0.5 }));
    overrides.set(override({ rule: '*', key: '!r:b.example', factor: 0.01 }));
    expect(limitOf(overrides, 'messages')).toBe(20);
    expect(limitOf(overrides, 'volume')).toBe(2_500_000);
    expect(limitOf(overrides, 'joins', '!r:b.example')).toBe(1);
    expect(limitOf(overrides, 'messages', '@other:b.example')).toBeUndefined();
    expect(limitOf(overrides, 'all')).toBeUndefined();
    expect(overrides.factorOf(RULES, 'messages', USER)).toBe(2);
    nowMs += HOUR_MS;
    expect(limitOf(overrides, 'messages')).toBeUndefined();
    expect(overrides.list()).toEqual([]);
    expect(overrides.journal(3).map(({ action }) => action)).toEqual(['ended', 'ended', 'ended']);
    overrides.onApplicationShutdown();
  });

  test('survive a restart, with the journal of all changes', () => {
    const first = open();
    first.set(override());
    first.set(override({ limit: 7, reason: 'fewer' }));
    first.set(override({ rule: 'joins', key: '!r:b.example' }));
    expect(first.delete('joins', '!r:b.example')).toBe(true);
    expect(first.delete('joins', '!r:b.example')).toBe(false);
    first.onApplicationShutdown();
    const second = open(false);
    expect(second.list()).toEqual([override({ limit: 7, reason: 'fewer' })]);
    expect(limitOf(second, 'messages')).toBe(7);
    expect(second.journal(10).map(({ action, rule, limit, factor }) => [action, rule, limit ?? factor])).toEqual([
      ['deleted', 'joins', 2],
      ['set', 'joins', 2],
      ['set', 'messages', 7],
      ['set', 'messages', 2],
    ]);
    second.onApplicationShutdown();
  });

  test('are at most 10,000, so that neither the file nor the memory grows without end', () => {
    const overrides = new Overrides({ now: () => nowMs });
    for (let i = 0; i < 10_000; i++) overrides.set(override({ key: `@u${i}:b.example` }));
    expect(() => overrides.set(override())).toThrow(expect.objectContaining({ status: 400 }));
    overrides.set(override({ key: '@u5:b.example', limit: 3 }));
    expect(overrides.journal(100_000)).toHaveLength(10_000);
  });

  test('create no file without an operator', () => {
    const overrides = open(false);
    expect(overrides.list()).toEqual([]);
    expect(readdirSync(folder)).toEqual([]);
  });

  /** How many of some messages in a row a rule with a limit of 2 grants. */
  function messagesUnder(algorithm: 'fixed-window' | 'gcra') {
    const overrides = new Overrides({ now: () => nowMs });
    const refused: number[] = [];
    const onRefused = ({ limit }: { limit: number }) => void refused.push(limit);
    const rules = {
      rules: [{ ...RULES[0]!, limit: 2, algorithm }],
      exempt: { users: [], appservices: [], networks: [] },
    };
    const engine = new RuleEngine(new MemoryRateLimiter(), { onGranted: () => undefined, onRefused }, rules, overrides);
    const granted = async (user: string, times: number) => {
      let count = 0;
      for (let i = 0; i < times; i++) {
        const answer = await engine.admit([{ event: 'message', user, address: 'x', source: 'x' }]);
        if (answer.granted) count++;
      }
      return count;
    };
    return { overrides, refused, granted };
  }

  test.each(['fixed-window', 'gcra'] as const)('decide how much a key has of a %s rule', async (algorithm) => {
    const { overrides, refused, granted } = messagesUnder(algorithm);
    overrides.set(override({ limit: 5 }));
    overrides.set(override({ limit: 1, key: '@less:b.example' }));
    expect(await granted(USER, 9)).toBe(5);
    expect(await granted('@less:b.example', 9)).toBe(1);
    expect(await granted('@other:b.example', 9)).toBe(2);
    expect([...new Set(refused)]).toEqual([5, 1, 2]);
  });

  test('apply to a window that is open, and end in it', async () => {
    const { overrides, granted } = messagesUnder('fixed-window');
    expect(await granted(USER, 5)).toBe(2);
    overrides.set(override({ limit: 5 }));
    expect(await granted(USER, 2)).toBe(2);
    nowMs += HOUR_MS;
    expect(await granted(USER, 3)).toBe(0);
  });
});

describe('readOverride', () => {
  const body = { factor: 2, until: '2030-01-02T00:00:00Z', reason: 'a bot' };
  const read = (rule: string, key: string, value: unknown) =>
    readOverride(rule, key, value, { rules: RULES, nowMs: NOW });

  test('takes a factor or a limit, an end and a reason', () => {
    expect(read('messages', USER, body)).toEqual(override({ untilMs: NOW + 24 * HOUR_MS }));
    const { factor: _, ...rest } = body;
    expect(read('volume', USER, { ...rest, limit: 5_000_000 })).toMatchObject({ limit: 5_000_000 });
    expect(read('*', '!r:b.example', { ...body, until: '2030-01-02T00:00+02:00' })).toMatchObject({ rule: '*' });
  });

  test.each([
    ['messages', USER, undefined],
    ['messages', USER, []],
    ['messages', USER, { ...body, limit: 5 }],
    ['messages', USER, { ...body, factor: undefined }],
    ['messages', USER, { ...body, user: 'x' }],
    ['messages', USER, { ...body, factor: 0 }],
    ['messages', USER, { ...body, factor: -1 }],
    ['messages', USER, { ...body, factor: 1e9 }],
    ['messages', USER, { ...body, factor: '2' }],
    ['messages', USER, { ...body, factor: NaN }],
    ['messages', USER, { ...body, factor: undefined, limit: 0 }],
    ['messages', USER, { ...body, factor: undefined, limit: 1.5 }],
    ['messages', USER, { ...body, factor: undefined, limit: 1_000_001 }],
    ['messages', USER, { ...body, until: '2029-12-31T00:00:00Z' }],
    ['messages', USER, { ...body, until: '2032-01-01T00:00:00Z' }],
    ['messages', USER, { ...body, until: '2030-01-02' }],
    ['messages', USER, { ...body, until: '2030-13-02T00:00:00Z' }],
    ['messages', USER, { ...body, until: NOW + 5 }],
    ['messages', USER, { ...body, reason: ' ' }],
    ['messages', USER, { ...body, reason: 'x'.repeat(201) }],
    ['messages', USER, { ...body, reason: undefined }],
    ['messages', 'bot', body],
    ['messages', '!r:b.example', body],
    ['joins', USER, body],
    ['all', '*', body],
    ['*', '192.0.2.1', body],
    ['*', USER, { ...body, factor: undefined, limit: 5 }],
    ['unknown', USER, body],
  ])('refuses %s %s %j', (rule, key, value) => {
    const status = rule === 'unknown' ? 404 : 400;
    expect(() => read(rule, key, value)).toThrow(expect.objectContaining({ status }));
  });
});
