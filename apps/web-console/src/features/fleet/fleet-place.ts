import { COLUMNS, type ColumnName } from './fleet-columns.js';

/** What of the fleet is looked at. It lives in the address, so it can be sent to a colleague. */
export interface FleetPlace {
  readonly search: string;
  readonly statuses: readonly string[];
  readonly contexts: readonly string[];
  readonly tags: readonly string[];
  readonly sort: ColumnName;
  readonly descending: boolean;
}

const isColumn = (text: string): text is ColumnName => (COLUMNS as readonly string[]).includes(text);

/** Reads `q`, `status`, `context`, `tag` (each may repeat) and `sort` (`-cpu` is descending); anything else is ignored. */
export function readPlace(query: URLSearchParams): FleetPlace {
  const sort = query.get('sort') ?? 'name';
  const column = sort.replace(/^-/, '');
  return {
    search: query.get('q') ?? '',
    statuses: query.getAll('status'),
    contexts: query.getAll('context'),
    tags: query.getAll('tag'),
    sort: isColumn(column) ? column : 'name',
    descending: sort.startsWith('-'),
  };
}

/** The shortest query that `readPlace` reads back the same. */
export function writePlace(place: FleetPlace): URLSearchParams {
  const query = new URLSearchParams();
  if (place.search !== '') query.set('q', place.search);
  for (const status of place.statuses) query.append('status', status);
  for (const context of place.contexts) query.append('context', context);
  for (const tag of place.tags) query.append('tag', tag);
  if (place.sort !== 'name' || place.descending) query.set('sort', `${place.descending ? '-' : ''}${place.sort}`);
  return query;
}

export const isFiltered = ({ search, statuses, contexts, tags }: FleetPlace): boolean =>
  search.trim() !== '' || statuses.length + contexts.length + tags.length > 0;

export const withoutFilters = (place: FleetPlace): FleetPlace => ({
  ...place,
  search: '',
  statuses: [],
  contexts: [],
  tags: [],
});
