import { joinQuantity, splitQuantity } from './quantity-parts.js';

test.each([
  ['4Gi', '4', 'Gi'],
  ['512Mi', '512', 'Mi'],
  ['20G', '20', 'Gi'],
  ['1000', '1000', 'Gi'],
  ['4Gx', '4Gx', 'Gi'],
])('splits %s into %s and %s', (quantity, amount, unit) => expect(splitQuantity(quantity)).toEqual({ amount, unit }));

test.each([
  ['8', 'Gi', '8Gi'],
  ['512Mi', 'Gi', '512Mi'],
  ['512 MiB', 'Gi', '512Mi'],
  ['20GB', 'Mi', '20Gi'],
  ['1.5', 'Ti', '1.5Ti'],
  ['eight', 'Gi', 'eightGi'],
  ['', 'Gi', 'Gi'],
])('"%s" typed with %s selected is %s', (typed, unit, quantity) => expect(joinQuantity(typed, unit)).toBe(quantity));
