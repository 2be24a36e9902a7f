import type { RuleFacts, RuleRefusal } from '@headgate/limit-rules';
import { RefusalLog } from './refusal-log.js';

const refusal = (key: string): RuleRefusal => ({
  granted: false,
  rule: 'ring',
  event: 'ring',
  by: 'user',
  key,
  limit: 10,
  windowMs: 60_000,
  reason: 'limit',
  retryAfterMs: 500,
});
const facts = (user: string): RuleFacts => ({ event: 'ring', address: '192.0.2.1', source: '192.0.2.1', user });

describe('RefusalLog', () => {
  let lines: [data: Record<string, unknown>, message: string][];
  let nowMs: number;
  const open = (isLogged = true) =>
    new RefusalLog(
      { info: (...line: unknown[]) => void lines.push(line as never) } as never,
      () => isLogged,
      () => nowMs,
    );
  beforeEach(() => {
    lines = [];
    nowMs = 1_700_000_000_000;
  });

  test('says which rule refused what and why', () => {
    open().rate(refusal('@a:b'), facts('@a:b'), false);
    expect(lines).toEqual([
      [
        {
          rule: 'ring',
          key: '@a:b',
          reason: 'limit',
          limit: 10,
          windowMs: 60_000,
          retryAfterMs: 500,
          event: 'ring',
          address: '192.0.2.1',
          user: '@a:b',
        },
        'a request was refused',
      ],
    ]);
  });

  test('says of a shadow rule that the request was not refused', () => {
    open().rate(refusal('@a:b'), facts('@a:b'), true);
    expect(lines[0]).toMatchObject([{ shadow: true }, 'a request would be refused']);
  });

  test('logs a rule and key once a minute, with the number of repetitions', () => {
    const log = open();
    for (let i = 0; i < 50; i++) log.rate(refusal('@a:b'), facts('@a:b'), false);
    expect(lines).toHaveLength(1);
    nowMs += 60_000;
    log.rate(refusal('@a:b'), facts('@a:b'), false);
    expect(lines[1]![0]).toMatchObject({ key: '@a:b', repeated: 49 });
  });

  test('logs at most 10 lines a second, and the number of those left out', () => {
    const log = open();
    for (let i = 0; i < 100; i++) log.cap('pushers', { key: `@u${i}:b`, limit: 1 });
    expect(lines).toHaveLength(10);
    nowMs += 1_000;
    log.cap('pushers', { key: '@last:b', limit: 1 });
    expect(lines[10]![0]).toMatchObject({ reason: 'cap', suppressed: 90 });
  });

  test('keeps the latest, logged or not, in bounded memory', () => {
    const log = open(false);
    for (let i = 0; i < 5_000; i++) log.cap('filters', { key: `@u${i}:b` });
    expect(lines).toEqual([]);
    expect(log.latest().length).toBeLessThanOrEqual(1_000);
    expect(log.latest('filters', 2).map(({ key }) => key)).toEqual(['@u4999:b', '@u4998:b']);
    expect(log.latest('pushers')).toEqual([]);
  });
});
