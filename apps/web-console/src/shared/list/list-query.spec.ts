import { NO_FILTERS } from './list-filters.js';
import { isFiltered, parseListQuery, withoutFilters, listQueryParams } from './list-query.js';

const COLUMNS = ['name', 'mem'];
const read = (text: string) => parseListQuery(new URLSearchParams(text), COLUMNS);

describe('the list query in the address', () => {
  const query = {
    search: 'a b',
    filters: { ...NO_FILTERS, status: ['Running', 'Paused'], context: ['lab/x'], node: ['n1'], tag: ['prod'] },
    sort: 'mem',
    descending: true,
  };

  test('is read back unchanged', () => expect(read(listQueryParams(query).toString())).toEqual(query));

  test('is empty by default', () => expect(listQueryParams(read('')).toString()).toBe(''));

  test('ignores a column that does not exist', () =>
    expect(read('sort=-shoe-size')).toMatchObject({ sort: 'name', descending: true }));

  test('keeps the order without its filters', () => {
    expect(isFiltered(query)).toBe(true);
    expect(isFiltered(withoutFilters(query))).toBe(false);
    expect(withoutFilters(query)).toMatchObject({ sort: 'mem', descending: true });
  });
});
