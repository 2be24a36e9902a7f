import 'reflect-metadata';
import { CreateVmDto } from '@headgate/api-contracts';
import { validateSync } from 'class-validator';
import { bytesOf, quantityProblem, readableQuantity } from './quantity.js';

describe('bytesOf', () => {
  test.each([
    ['4Gi', 4 * 1024 ** 3],
    ['20G', 20e9],
    ['1.5Gi', 1.5 * 1024 ** 3],
    ['1000', 1000],
    ['1e3', 1000],
    ['512k', 512_000],
  ])('%s is %d bytes', (text, bytes) => expect(bytesOf(text)).toBe(bytes));

  test('is NaN for text that is not a quantity', () => expect(bytesOf('four')).toBeNaN());
});

test.each(['4Gi', '20G', '512Mi', '1.5Gi', '.5Gi', '1e9', '', 'Gi', '0', '-1Gi', '4GB', '4gi', '9Pi', '4 Gi'])(
  'quantityProblem judges "%s" as the service does',
  (mem) => {
    const errors = validateSync(Object.assign(new CreateVmDto(), { name: 'a', mem }));
    expect(quantityProblem(mem) === undefined).toBe(errors.length === 0);
  },
);

test.each([
  ['4Gi', '4 GiB'],
  ['20G', '20 GB'],
  ['3906250Ki', '3.7 GiB'],
  ['2147483648', '2 GiB'],
  ['512', '512 B'],
  ['odd', 'odd'],
])('%s reads as %s', (quantity, text) => expect(readableQuantity(quantity)).toBe(text));
