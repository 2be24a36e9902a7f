const STORED = 'limits-desk-token';

/**
 * The token lives in the storage of this tab: a reload keeps it, and closing the tab forgets it. Unlike a cookie, it is
 * sent by this page only, and to no other port of the host.
 */
export const keptToken = (): string => sessionStorage.getItem(STORED) ?? '';

export const keepToken = (token: string): void => sessionStorage.setItem(STORED, token);

export const forgetToken = (): void => sessionStorage.removeItem(STORED);
