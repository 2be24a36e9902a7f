import { useSearch } from 'wouter';

/** With `popup=1` in the address, a console fills its own window, without the masthead and the tabs. */
const POPUP = 'popup';

export const useIsPopup = (): boolean => new URLSearchParams(useSearch()).has(POPUP);

/** One window per path: a second click brings the existing window to the front. */
export const openPopup = (path: string): void =>
  void window.open(`${location.pathname}#${path}?${POPUP}=1`, `headgate:${path}`, 'popup,width=1040,height=860');
