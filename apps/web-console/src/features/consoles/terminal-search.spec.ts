import { jest } from '@jest/globals';
import { hitsIn, showHit } from './terminal-search.js';

const COLUMNS = 10;
const terminalOf = (...lines: readonly (readonly [text: string, isWrapped?: boolean])[]) => {
  const getLine = (index: number) => {
    const [text, isWrapped = false] = lines[index] ?? [];
    return text === undefined ? undefined : { isWrapped, translateToString: () => text.padEnd(COLUMNS) };
  };
  return { cols: COLUMNS, buffer: { active: { length: lines.length, getLine } } } as never;
};

test('finds each place of a text, whatever its case', () =>
  expect(hitsIn(terminalOf(['oom at 1'], ['quiet'], ['an OOM Oom']), 'oom')).toEqual([
    { row: 0, column: 0, length: 3 },
    { row: 2, column: 3, length: 3 },
    { row: 2, column: 7, length: 3 },
  ]));

test('finds a text over the end of a wrapped row, and none over the end of a line', () =>
  expect(hitsIn(terminalOf(['12345678oo'], ['m-killer', true], ['       koo'], ['m']), 'oom')).toEqual([
    { row: 0, column: 8, length: 3 },
  ]));

test('finds nothing without a text', () => expect(hitsIn(terminalOf(['some']), '')).toEqual([]));

test('stops at 1,000 hits', () =>
  expect(hitsIn(terminalOf(...Array.from({ length: 300 }, () => ['eeeeeeeeee'] as const)), 'e')).toHaveLength(1_000));

test('selects a hit and scrolls to it', () => {
  const terminal = { rows: 24, select: jest.fn(), scrollToLine: jest.fn() };
  showHit(terminal, { row: 100, column: 4, length: 3 });
  showHit(terminal, { row: 3, column: 0, length: 3 });
  expect(terminal.select.mock.calls).toEqual([
    [4, 100, 3],
    [0, 3, 3],
  ]);
  expect(terminal.scrollToLine.mock.calls).toEqual([[88], [0]]);
});
