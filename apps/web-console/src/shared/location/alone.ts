import { useSearch } from 'wouter';

/** A console in a window of its own stands there without what is around pages: `alone=1` in the address. */
const ALONE = 'alone';

export const useIsAlone = (): boolean => new URLSearchParams(useSearch()).has(ALONE);

/** One window for each place: a second click brings the first one back. */
export const openAlone = (path: string): void =>
  void window.open(`${location.pathname}#${path}?${ALONE}=1`, `headgate:${path}`, 'popup,width=1040,height=860');
