import { moveActive } from './move-active.js';

test.each([
  ['ArrowDown', -1, 0],
  ['ArrowDown', 99, 99],
  ['ArrowUp', 0, 0],
  ['PageDown', 5, 25],
  ['PageUp', 5, 0],
  ['Home', 50, 0],
  ['End', 0, 99],
  ['x', 5, undefined],
])('%s moves from %d to %d', (key, from, to) => expect(moveActive(key, from, 100)).toBe(to));

test('an empty list has no row to move to', () => expect(moveActive('ArrowDown', -1, 0)).toBeUndefined());
