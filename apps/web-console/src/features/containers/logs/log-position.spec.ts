import { LineSplitter } from './line-splitter.js';
import { LogPosition, timedLine } from './log-position.js';

describe('the time of a line', () => {
  test.each([
    ['2026-01-02T03:04:05.123456789Z text', '2026-01-02T03:04:05.123456789Z', 'text'],
    ['2026-01-02T03:04:05.1Z text', '2026-01-02T03:04:05.100000000Z', 'text'],
    ['2026-01-02T03:04:05+01:00 text', '2026-01-02T02:04:05.000000000Z', 'text'],
    ['2026-01-02T03:04:05.5Z', '2026-01-02T03:04:05.500000000Z', ''],
    ['2026-13-02T03:04:05Z text', '', '2026-13-02T03:04:05Z text'],
    ['no time', '', 'no time'],
    ['', '', ''],
  ])('of %j is separated from it', (line, time, text) => {
    expect(timedLine(line)).toEqual({ time, text });
  });
});

describe('the position in a log', () => {
  const read = (position: LogPosition, ...lines: string[]): string[] =>
    lines
      .map(timedLine)
      .filter((line) => position.accept(line))
      .map(({ text }) => text);
  const at = (fraction: string, text: string): string => `2026-01-01T00:00:00.${fraction}Z ${text}`;

  test('accepts each line once, although the last second is repeated', () => {
    const position = new LogPosition();
    expect(position.since).toBeUndefined();
    expect(read(position, at('1', 'a'), at('2', 'b'), at('2', 'b'))).toEqual(['a', 'b', 'b']);
    position.restart();
    expect(position.since).toBe('2026-01-01T00:00:00.200000000Z');
    expect(read(position, at('1', 'a'), at('2', 'b'), at('2', 'b'), at('2', 'c'), at('3', 'd'))).toEqual(['c', 'd']);
    position.restart();
    expect(read(position, at('3', 'd'), at('4', 'e'))).toEqual(['e']);
  });

  test('accepts new lines although the repeated ones are gone', () => {
    const position = new LogPosition();
    read(position, at('1', 'a'), at('1', 'a'));
    position.restart();
    expect(read(position, at('5', 'b'), at('5', 'c'))).toEqual(['b', 'c']);
  });
});

describe('LineSplitter', () => {
  test('joins pieces into lines, and keeps the last one until it ends', () => {
    const lines = new LineSplitter();
    expect(lines.push('one\ntw')).toEqual(['one']);
    expect(lines.push('o\n\nth')).toEqual(['two', '']);
    expect(lines.flush()).toEqual(['th']);
    expect(lines.flush()).toEqual([]);
  });

  test('keeps a bounded part of a line that never ends', () => {
    const lines = new LineSplitter();
    for (let count = 0; count < 100; count++) lines.push('x'.repeat(10_000));
    expect(lines.push('\nnext\n').map(({ length }) => length)).toEqual([65_536, 4]);
  });
});
