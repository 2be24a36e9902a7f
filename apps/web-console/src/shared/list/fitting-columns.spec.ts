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
  disk: column(5, { givesWay: 2 }),
  context: column(7, { givesWay: 1 }),
  created: column(9, { onDemand: true }),
};

describe('fittingColumns', () => {
  test('has all but those on demand where there is room', () =>
    expect(fittingColumns(columns, 100)).toEqual(['name', 'status', 'disk', 'context']));

  test('has first what gives way last, and what is narrow enough beside it', () => {
    expect(fittingColumns(columns, 35.5)).toEqual(['name', 'status', 'disk']);
    expect(fittingColumns({ ...columns, disk: column(20, { givesWay: 2 }) }, 40)).toEqual([
      'name',
      'status',
      'context',
    ]);
    expect(fittingColumns(columns, 31)).toEqual(['name', 'status']);
  });

  test('keeps what does not give way, however narrow it is', () =>
    expect(fittingColumns(columns, 5)).toEqual(['name', 'status']));
});

test('the name has the room that the others leave', () =>
  expect(gridTemplate(columns, ['name', 'disk'])).toBe('2.75rem minmax(12rem, 1fr) 5rem 7.25rem'));
