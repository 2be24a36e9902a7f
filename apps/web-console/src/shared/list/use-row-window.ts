import { useCallback, useEffect, useLayoutEffect, useRef, useState } from 'react';
import { flushSync } from 'react-dom';
import { keepScroll, recallScroll } from './kept-scroll.js';
import { poolSize, ROW_HEIGHT, rowWindow, scrollTo } from './row-window.js';

interface Sight {
  /** The first row in sight. */
  readonly top: number;
  readonly rows: number;
}

/** Until the table was measured. */
const USUAL_ROWS = 40;

/**
 * Follows which rows of a scroller are in sight.
 * @param address of what is listed. Another address begins at its top, one that was looked at before where it was left.
 */
export function useRowWindow(count: number, address: string) {
  const scroller = useRef<HTMLDivElement>(null);
  const [sight, setSight] = useState<Sight>(() => ({
    top: Math.floor(recallScroll(address) / ROW_HEIGHT),
    rows: USUAL_ROWS,
  }));

  const shown = useRef<string>(undefined);
  useLayoutEffect(() => {
    if (!scroller.current || shown.current === address) return;
    scroller.current.scrollTop = shown.current === undefined ? recallScroll(address) : 0;
    shown.current = address;
  }, [address]);

  useEffect(() => {
    const element = scroller.current;
    if (!element) return undefined;
    const look = (): void => {
      const next = {
        top: Math.floor(element.scrollTop / ROW_HEIGHT),
        rows: Math.ceil(element.clientHeight / ROW_HEIGHT),
      };
      setSight((before) => (sameWindow(before, next, count) ? before : next));
    };
    // Within the frame that scrolls: drawn later, rows would be missing in it.
    const onScroll = (): void => {
      keepScroll(address, element.scrollTop);
      flushSync(look);
    };
    const observer = new ResizeObserver(look);
    observer.observe(element);
    element.addEventListener('scroll', onScroll, { passive: true });
    return () => {
      observer.disconnect();
      element.removeEventListener('scroll', onScroll);
    };
  }, [count, address]);

  /** @param head height of what sticks to the scroller's top, in pixels */
  const showRow = useCallback((index: number, head: number): void => {
    const element = scroller.current;
    if (!element) return;
    const top = scrollTo(index, element.scrollTop, element.clientHeight - head);
    if (top !== undefined) element.scrollTop = top;
  }, []);

  return {
    scroller,
    top: sight.top,
    window: rowWindow(sight.top, sight.rows, count),
    pool: poolSize(sight.rows),
    showRow,
  };
}

function sameWindow(a: Sight, b: Sight, count: number): boolean {
  const one = rowWindow(a.top, a.rows, count);
  const other = rowWindow(b.top, b.rows, count);
  return one.first === other.first && one.end === other.end;
}
