import { useLayoutEffect, useRef, type RefObject, type UIEventHandler } from 'react';

/** As near to the end as this counts as being there. */
const TOLERANCE_PX = 8;

/** Keeps the end of a text that grows in view, unless the user has scrolled up. Spread it over the box that scrolls. */
export function useFollowEnd<E extends HTMLElement>(
  text: string,
): { readonly ref: RefObject<E | null>; readonly onScroll: UIEventHandler<E> } {
  const ref = useRef<E>(null);
  const isAtEnd = useRef(true);
  useLayoutEffect(() => {
    if (ref.current && isAtEnd.current) ref.current.scrollTop = ref.current.scrollHeight;
  }, [text]);
  return {
    ref,
    onScroll: ({ currentTarget: { scrollHeight, scrollTop, clientHeight } }) => {
      isAtEnd.current = scrollHeight - scrollTop - clientHeight < TOLERANCE_PX;
    },
  };
}
