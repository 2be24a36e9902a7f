import { NO_FILTERS } from './list-filters.js';
import { isFiltered, readPlace, withoutFilters, writePlace } from './list-place.js';

const COLUMNS = ['name', 'mem'];
const read = (query: string) => readPlace(new URLSearchParams(query), COLUMNS);

describe('the place in the address', () => {
  const place = {
    search: 'a b',
    filters: { ...NO_FILTERS, status: ['Running', 'Paused'], context: ['lab/x'], node: ['n1'], tag: ['prod'] },
    sort: 'mem',
    descending: true,
  };

  test('is read back as it was written', () => expect(read(writePlace(place).toString())).toEqual(place));

  test('is empty where nothing was chosen', () => expect(writePlace(read('')).toString()).toBe(''));

  test('ignores a column that does not exist', () =>
    expect(read('sort=-shoe-size')).toMatchObject({ sort: 'name', descending: true }));

  test('without its filters keeps the order', () => {
    expect(isFiltered(place)).toBe(true);
    expect(isFiltered(withoutFilters(place))).toBe(false);
    expect(withoutFilters(place)).toMatchObject({ sort: 'mem', descending: true });
  });
});
