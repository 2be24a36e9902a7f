import { FILTER_NAMES, NO_FILTERS, type Filters } from './list-filters.js';

/** The search, filters, and order of a list. They are part of the address, so that users can share them. */
export interface ListSettings {
  readonly search: string;
  readonly filters: Filters;
  /** The column that rows are sorted by. */
  readonly sort: string;
  readonly descending: boolean;
}

/** Reads `q`, the filters (each may repeat) and `sort` (`-cpu` is descending); anything else is ignored. */
export function parseListQuery(params: URLSearchParams, columns: readonly string[]): ListSettings {
  const sort = params.get('sort') ?? 'name';
  const column = sort.replace(/^-/, '');
  return {
    search: params.get('q') ?? '',
    filters: Object.fromEntries(FILTER_NAMES.map((name) => [name, params.getAll(name)])) as Record<
      (typeof FILTER_NAMES)[number],
      string[]
    >,
    sort: columns.includes(column) ? column : 'name',
    descending: sort.startsWith('-'),
  };
}

/** The shortest parameters that `parseListQuery` reads back unchanged. */
export function listQueryParams(query: ListSettings): URLSearchParams {
  const params = new URLSearchParams();
  if (query.search !== '') params.set('q', query.search);
  for (const name of FILTER_NAMES) for (const value of query.filters[name]) params.append(name, value);
  if (query.sort !== 'name' || query.descending) params.set('sort', `${query.descending ? '-' : ''}${query.sort}`);
  return params;
}

export const isFiltered = ({ search, filters }: ListSettings): boolean =>
  search.trim() !== '' || FILTER_NAMES.some((name) => filters[name].length > 0);

/** Whether the list begins with the first instances by name. */
export const isByName = (query: ListSettings): boolean =>
  !isFiltered(query) && query.sort === 'name' && !query.descending;

export const withoutFilters = (query: ListSettings): ListSettings => ({ ...query, search: '', filters: NO_FILTERS });
