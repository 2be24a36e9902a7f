import { useEffect, useMemo, useState } from 'react';
import { EMPTY_QUERY, type Query } from '@headgate/instance-query';
import { parseSearch } from './search-query.js';

/**
 * The query of the search box. While it has a mistake, the last valid query, or the whole list if there was none.
 * @param search never changes the returned query object unless it changes itself
 */
export function useValidQuery(search: string): { readonly query: Query; readonly problem: string | undefined } {
  const parsed = useMemo(() => parseSearch(search), [search]);
  const [last, setLast] = useState<Query>(EMPTY_QUERY);
  useEffect(() => {
    if (parsed.query) setLast(parsed.query);
  }, [parsed]);
  return { query: parsed.query ?? last, problem: parsed.problem };
}
