/** The create dialog of a list is part of the list's address: `create=1`, next to its search and filters. */
export function createDialogPaths(path: string, search: string) {
  const pathWith = (isOpen: boolean): string => {
    const query = new URLSearchParams(search);
    query.delete('create');
    if (isOpen) query.set('create', '1');
    return query.size === 0 ? path : `${path}?${query}`;
  };
  return { isOpen: new URLSearchParams(search).has('create'), open: pathWith(true), closed: pathWith(false) };
}
