import 'reflect-metadata';
import { CreateVmDto } from '@headgate/api-contracts';
import { validateSync } from 'class-validator';
import { bytesOf, diskProblem, memoryProblem, readableQuantity, readableSizes } from './quantity.js';

describe('bytesOf', () => {
  test.each([
    ['4Gi', 4 * 1024 ** 3],
    ['20G', 20 * 1024 ** 3],
    ['1.5Gi', 1.5 * 1024 ** 3],
    ['1000', 1000],
    ['512K', 512 * 1024],
    ['2P', 2 * 1024 ** 5],
  ])('%s is %d bytes', (text, bytes) => expect(bytesOf(text)).toBe(bytes));

  test('is NaN for text that is not a quantity', () => expect(bytesOf('four')).toBeNaN());
});

const TYPED = ['4Gi', '20G', '512Mi', '1.5Gi', '.5Gi', '1e9', '', 'Gi', '0', '-1Gi', '4GB', '4gi', '9Pi', '4 Gi'];
const LIMITS = [
  '1',
  '1023K',
  '1M',
  '1048576',
  '64T',
  '65T',
  '1P',
  '1.5P',
  '7Pi',
  '0.1Gi',
  '1048576.5',
  '1k',
  '1Ei',
  '500m',
];

test.each([...TYPED, ...LIMITS])('the problems of "%s" are those of the service', (size) => {
  const refused = (field: 'mem' | 'disk'): boolean =>
    validateSync(Object.assign(new CreateVmDto(), { name: 'a', [field]: size })).length > 0;
  expect([memoryProblem(size) !== undefined, diskProblem(size) !== undefined]).toEqual([
    refused('mem'),
    refused('disk'),
  ]);
});

test.each([
  ['4Gi', '4 GiB'],
  ['20G', '20 GiB'],
  ['3906250Ki', '3.7 GiB'],
  ['2147483648', '2 GiB'],
  ['512', '512 B'],
  ['odd', 'odd'],
])('%s reads as %s', (quantity, text) => expect(readableQuantity(quantity)).toBe(text));

test.each([
  ['Copy 1Gi of disks.', 'Copy 1 GiB of disks.'],
  ['It needs 1.5Gi, and has 512Mi.', 'It needs 1.5 GiB, and has 512 MiB.'],
  ['web-1Gi and data/2Gi-old are names.', 'web-1Gi and data/2Gi-old are names.'],
])('the sizes in "%s" read as everywhere else', (text, readable) => expect(readableSizes(text)).toBe(readable));
