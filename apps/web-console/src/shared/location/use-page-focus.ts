import { useEffect, useRef, type RefObject } from 'react';
import { useLocation } from 'wouter';

/** Marks the element of a page that gets the focus after the navigation: the table of a list, or the heading. */
export const PAGE_FOCUS = { tabIndex: -1, 'data-page-focus': true } as const;

/** `/vms/<context>/<namespace>/<name>`: a tab is not another page, and keeps the focus. */
const PAGE_SEGMENTS = 5;

/** Moves the focus to the new page after each navigation, and announces the page to screen readers that way. */
export function usePageFocus(main: RefObject<HTMLElement | null>): void {
  const [path] = useLocation();
  const page = path.split('/').slice(0, PAGE_SEGMENTS).join('/');
  const shown = useRef(page);
  useEffect(() => {
    if (shown.current === page) return;
    shown.current = page;
    const target = main.current?.querySelector<HTMLElement>('[data-page-focus]') ?? main.current;
    target?.focus({ preventScroll: true });
  }, [page, main]);
}
