/** The dialog that adds to a list stands in the list's address: `create=1`, beside its search and filters. */
export function createPlace(path: string, search: string) {
  const place = (isOpen: boolean): string => {
    const query = new URLSearchParams(search);
    query.delete('create');
    if (isOpen) query.set('create', '1');
    return query.size === 0 ? path : `${path}?${query}`;
  };
  return { isOpen: new URLSearchParams(search).has('create'), open: place(true), closed: place(false) };
}
