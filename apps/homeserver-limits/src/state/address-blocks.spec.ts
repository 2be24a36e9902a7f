import type { RuleRefusal } from '@headgate/limit-rules';
import { AddressBlocks } from './address-blocks.js';

const MINUTE = 60_000;

describe('AddressBlocks', () => {
  let nowMs: number;
  let rules: Set<string>;
  let blocks: AddressBlocks;
  let changes: number;
  let full: number[];
  const open = (stored?: ReturnType<AddressBlocks['stored']>) => {
    blocks = new AddressBlocks({
      isInForce: ({ rule }) => rules.has(rule),
      stored,
      now: () => nowMs,
      onFull: (most) => full.push(most),
    });
    blocks.onChange = () => changes++;
  };
  beforeEach(() => {
    [nowMs, rules, changes, full] = [1_000_000, new Set(['logins', 'mails']), 0, []];
    open();
  });

  const refuse = (key: string, retryAfterMs: number, more: Partial<RuleRefusal> = {}) =>
    blocks.note({
      rule: 'logins',
      by: 'source',
      key,
      limit: 5,
      windowMs: MINUTE,
      reason: 'block',
      retryAfterMs,
      ...more,
    });
  const values = (list: readonly { rule: string; value: string }[]) =>
    list.map(({ rule, value }) => `${rule} ${value}`);
  const changesSince = (position?: number) => {
    const { added, ended } = blocks.since(position);
    return { added: values(added), ended: values(ended) };
  };
  const position = () => blocks.since().position;

  test('has blocks by address, and neither refusals of a limit nor blocks by another key', () => {
    refuse('192.0.2.1', MINUTE);
    refuse('192.0.2.2', MINUTE, { reason: 'limit' });
    refuse('@nora:b.example', MINUTE, { by: 'user' });
    refuse('nora 192.0.2.3', MINUTE, { by: 'account_source' });
    refuse('192.0.2.4', MINUTE, { rule: 'unknown' });
    expect(values(blocks.current())).toEqual(['logins 192.0.2.1']);
  });

  test('has one entry for all refusals of a block, whose reports differ by milliseconds', () => {
    refuse('192.0.2.1', MINUTE);
    const first = position();
    nowMs += 10_000;
    refuse('192.0.2.1', 50_000);
    refuse('192.0.2.1', 49_600);
    expect(changesSince(first)).toEqual({ added: [], ended: [] });
    expect([blocks.current().length, changes]).toEqual([1, 1]);
  });

  test('ends a block with its time, and announces the next one of the value', () => {
    refuse('192.0.2.1', MINUTE);
    const first = position();
    nowMs += MINUTE - 1;
    expect(changesSince(first)).toEqual({ added: [], ended: [] });
    nowMs += 1;
    expect(changesSince(first)).toEqual({ added: [], ended: ['logins 192.0.2.1'] });
    expect(blocks.since(first).ended[0]).toMatchObject({ hasExpired: true });
    refuse('192.0.2.1', 2 * MINUTE);
    expect(changesSince(first)).toEqual({ added: ['logins 192.0.2.1'], ended: ['logins 192.0.2.1'] });
  });

  test('ends an expired block also when the next one is the first to notice', () => {
    refuse('192.0.2.1', MINUTE);
    const first = position();
    nowMs += 2 * MINUTE;
    refuse('192.0.2.1', 2 * MINUTE);
    expect(changesSince(first)).toEqual({ added: ['logins 192.0.2.1'], ended: ['logins 192.0.2.1'] });
  });

  test('announces the longest of several blocks, and the next one when it is lifted', () => {
    refuse('192.0.2.1', MINUTE);
    refuse('192.0.2.1', 5 * MINUTE, { rule: 'mails' });
    expect(values(blocks.current())).toEqual(['mails 192.0.2.1']);
    const both = position();
    blocks.lift('mails', '192.0.2.1');
    expect(changesSince(both)).toEqual({ added: ['logins 192.0.2.1'], ended: ['mails 192.0.2.1'] });
    expect(blocks.since(both).ended[0]).toMatchObject({ hasExpired: false });
    refuse('192.0.2.1', 5 * MINUTE + 30_000, { rule: 'mails' });
    const again = position();
    blocks.lift('logins', '192.0.2.1');
    // It was covered by the other one.
    expect(changesSince(again)).toEqual({ added: [], ended: [] });
  });

  test('does not end what a longer block replaces', () => {
    refuse('192.0.2.1', MINUTE);
    const first = position();
    refuse('192.0.2.1', 5 * MINUTE, { rule: 'mails' });
    expect(changesSince(first)).toEqual({ added: ['mails 192.0.2.1'], ended: [] });
  });

  test('forgets a lifted block also when a request that was decided before reports it late', () => {
    refuse('192.0.2.1', MINUTE);
    blocks.lift('logins', '192.0.2.1');
    nowMs += 500;
    refuse('192.0.2.1', MINUTE - 500);
    expect(blocks.current()).toEqual([]);
    nowMs += 5_000;
    refuse('192.0.2.1', MINUTE);
    expect(values(blocks.current())).toEqual(['logins 192.0.2.1']);
  });

  test('ends the blocks of a rule that is gone', () => {
    refuse('192.0.2.1', MINUTE);
    const first = position();
    rules.delete('logins');
    expect(changesSince(first)).toEqual({ added: [], ended: ['logins 192.0.2.1'] });
  });

  test('leaves out blocks beyond the most that it has, and has room again when others end', () => {
    for (let i = 0; i < 20_002; i++) refuse(`10.0.${i >> 8}.${i & 255}`, MINUTE);
    expect([blocks.current().length, full]).toEqual([20_000, [20_000]]);
    nowMs += MINUTE;
    expect(blocks.current()).toEqual([]);
    refuse('192.0.2.1', MINUTE);
    expect(values(blocks.current())).toEqual(['logins 192.0.2.1']);
    expect(blocks.stored().ended.length).toBeLessThanOrEqual(10_000);
  });

  test('goes on after a restart, with the positions of its readers and its origin', () => {
    refuse('192.0.2.1', MINUTE);
    blocks.advance('firewall', position());
    refuse('192.0.2.2', 5 * MINUTE);
    const { origin } = blocks;
    expect(origin).toMatch(/^homeserver-limits-[0-9a-f]{8}$/);
    open(JSON.parse(JSON.stringify(blocks.stored())) as never);
    nowMs += MINUTE;
    expect(blocks.origin).toBe(origin);
    expect(changesSince(blocks.positionOf('firewall'))).toEqual({
      added: ['logins 192.0.2.2'],
      ended: ['logins 192.0.2.1'],
    });
    refuse('192.0.2.3', MINUTE);
    expect(new Set(blocks.current().map(({ id }) => id)).size).toBe(2);
  });

  test('starts again for a reader whose position is ahead, as after the file was lost', () => {
    refuse('192.0.2.1', MINUTE);
    expect(changesSince(900).added).toEqual(['logins 192.0.2.1']);
  });
});
