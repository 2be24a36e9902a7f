/** The last path of each list with its search, filters, and order, for the way back from an instance. */
const paths = new Map<string, string>();

/** @param search of the list's address, without the `?` */
export function rememberListPath(path: string, search: string): void {
  const query = new URLSearchParams(search);
  query.delete('create');
  paths.set(path, query.size === 0 ? path : `${path}?${query}`);
}

export const lastListPath = (path: string): string => paths.get(path) ?? path;
