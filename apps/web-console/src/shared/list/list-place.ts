import { FILTER_NAMES, NO_FILTERS, type Filters } from './list-filters.js';

/** What of a list is looked at. It lives in the address, so it can be sent to a colleague. */
export interface ListPlace {
  readonly search: string;
  readonly filters: Filters;
  /** The column that rows are ordered by. */
  readonly sort: string;
  readonly descending: boolean;
}

/** Reads `q`, the filters (each may repeat) and `sort` (`-cpu` is descending); anything else is ignored. */
export function readPlace(query: URLSearchParams, columns: readonly string[]): ListPlace {
  const sort = query.get('sort') ?? 'name';
  const column = sort.replace(/^-/, '');
  return {
    search: query.get('q') ?? '',
    filters: Object.fromEntries(FILTER_NAMES.map((name) => [name, query.getAll(name)])) as Record<
      (typeof FILTER_NAMES)[number],
      string[]
    >,
    sort: columns.includes(column) ? column : 'name',
    descending: sort.startsWith('-'),
  };
}

/** The shortest query that `readPlace` reads back the same. */
export function writePlace(place: ListPlace): URLSearchParams {
  const query = new URLSearchParams();
  if (place.search !== '') query.set('q', place.search);
  for (const name of FILTER_NAMES) for (const value of place.filters[name]) query.append(name, value);
  if (place.sort !== 'name' || place.descending) query.set('sort', `${place.descending ? '-' : ''}${place.sort}`);
  return query;
}

export const isFiltered = ({ search, filters }: ListPlace): boolean =>
  search.trim() !== '' || FILTER_NAMES.some((name) => filters[name].length > 0);

export const withoutFilters = (place: ListPlace): ListPlace => ({ ...place, search: '', filters: NO_FILTERS });
