/** How each list was left: its search, filters and order. Who goes back to it finds it so. */
const left = new Map<string, string>();

/** @param search what stands behind the `?` of the list's address */
export function keepList(path: string, search: string): void {
  const query = new URLSearchParams(search);
  query.delete('create');
  left.set(path, query.size === 0 ? path : `${path}?${query}`);
}

export const leftList = (path: string): string => left.get(path) ?? path;
