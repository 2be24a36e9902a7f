import { csvOf } from './csv.js';
import type { ListColumn } from './list-kind.js';

interface Row {
  readonly name: string;
  readonly mem: string;
}
const column = (label: string, more: Partial<ListColumn<Row>>): ListColumn<Row> => ({
  label,
  order: ({ name }) => name,
  cell: () => null,
  width: 1,
  ...more,
});
const columns = {
  name: column('Name', {}),
  mem: column('Memory', { order: () => 4294967296, text: ({ mem }) => mem }),
};

describe('csvOf', () => {
  test('contains the columns that are shown, with readable values', () =>
    expect(csvOf([{ name: 'web', mem: '4Gi' }], columns, ['name', 'mem'])).toBe('Name,Memory\r\nweb,4Gi\r\n'));

  test('quotes special characters and neutralizes formulas', () =>
    expect(csvOf([{ name: 'a,"b"', mem: '=1+1' }], columns, ['name', 'mem'])).toBe(
      'Name,Memory\r\n"a,""b""",\'=1+1\r\n',
    ));
});
