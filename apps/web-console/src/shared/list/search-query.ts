import {
  EMPTY_QUERY,
  LISTED_FIELDS,
  parseQuery,
  QueryError,
  type EntryReader,
  type Query,
} from '@headgate/instance-query';
import { statusOf, type Instance } from '../instances/instance.js';

/** The searchable text of each entry. Entries are replaced and never modified, so it is built once per entry. */
const searchTexts = new WeakMap<Instance, string>();

function searchTextOf(entry: Instance): string {
  let text = searchTexts.get(entry);
  if (text === undefined) {
    const own = 'image' in entry ? entry.image : entry.ip;
    text = [entry.name, entry.namespace, statusOf(entry), entry.context, entry.node, own, ...entry.tags]
      .join('\n')
      .toLowerCase();
    searchTexts.set(entry, text);
  }
  return text;
}

/** Reads the entries for queries, as the service does. */
export const INSTANCE_FIELDS: EntryReader<Instance> = { ...LISTED_FIELDS, words: searchTextOf };

/** The query of a search, or the mistake in it as a sentence with its position. */
export type ParsedSearch =
  { readonly query: Query; readonly problem?: undefined } | { readonly query?: undefined; readonly problem: string };

export function parseSearch(search: string): ParsedSearch {
  try {
    return { query: search.trim() === '' ? EMPTY_QUERY : parseQuery(search) };
  } catch (error) {
    if (!(error instanceof QueryError)) throw error;
    return { problem: error.located };
  }
}
