import { fittingColumns, gridTemplate } from './fitting-columns.js';
import type { ListColumn } from './list-kind.js';

const column = (width: number, more: Partial<ListColumn<unknown>> = {}): ListColumn<unknown> => ({
  label: '',
  order: () => '',
  cell: () => null,
  width,
  ...more,
});
const columns = {
  name: column(12),
  status: column(8),
  disk: column(5, { keepPriority: 2 }),
  context: column(7, { keepPriority: 1 }),
  created: column(9, { hiddenByDefault: true }),
};

describe('fittingColumns', () => {
  test('returns all default columns when there is room', () =>
    expect(fittingColumns(columns, 100)).toEqual(['name', 'status', 'disk', 'context']));

  test('prefers the columns with the highest priority, and fills up with narrow ones', () => {
    expect(fittingColumns(columns, 35.5)).toEqual(['name', 'status', 'disk']);
    expect(fittingColumns({ ...columns, disk: column(20, { keepPriority: 2 }) }, 40)).toEqual([
      'name',
      'status',
      'context',
    ]);
    expect(fittingColumns(columns, 31)).toEqual(['name', 'status']);
  });

  test('always keeps the columns without a priority', () =>
    expect(fittingColumns(columns, 5)).toEqual(['name', 'status']));
});

test('the name column takes the remaining width', () =>
  expect(gridTemplate(columns, ['name', 'disk'])).toBe('2.75rem minmax(12rem, 1fr) 5rem 7.25rem'));
