/** The pages that create instances were dialogs of their lists, with `create=1` in the address. Bookmarks have it. */
export const asksToCreate = (search: string): boolean => new URLSearchParams(search).has('create');
